package awssim

import (
	"time"
)

// Deployment is what an API was when it was deployed. A stage serves its deployment, not the API.
type Deployment struct {
	Birth
	ID          string          `json:"deploymentId"`
	Auto        bool            `json:"autoDeployed"`
	Description string          `json:"description,omitempty"`
	Routes      []DeployedRoute `json:"routes"`
}

// DeployedRoute is a route with the integration it had.
type DeployedRoute struct {
	RouteKey    string       `json:"routeKey"`
	Integration *Integration `json:"integration,omitempty"`
}

func (d *Deployment) key() string  { return d.ID }
func (d *Deployment) birth() Birth { return d.Birth }

const maxDeployments = 1000 // not published; only keeps a loop of a test from filling the memory

var deployments = collection[*Deployment]{
	what: "Deployment", member: "deploymentId", page: childPage, most: maxDeployments,
	in: func(p *Api) *[]*Deployment { return &p.Deployments },
	show: func(d *Deployment) any {
		return struct {
			Auto        bool   `json:"autoDeployed"`
			CreatedAt   string `json:"createdDate"`
			ID          string `json:"deploymentId"`
			Status      string `json:"deploymentStatus"`
			Description string `json:"description,omitempty"`
		}{d.Auto, d.CreatedAt.UTC().Format(time.RFC3339), d.ID, "DEPLOYED", d.Description}
	},
}

func deploymentOperations() []operation {
	one := []string{"deploymentId"}
	return []operation{
		{"CreateDeployment", []string{"apiId"}, (*Server).createDeployment},
		{"GetDeployment", one, deployments.readOne},
		{"GetDeployments", []string{"apiId"}, deployments.list},
		{"UpdateDeployment", one, (*Server).updateDeployment},
		{"DeleteDeployment", one, (*Server).deleteDeployment},
	}
}

const noRoutes = "Unable to deploy API because no routes exist in this API"

func (s *Server) createDeployment(c *call) (any, *failure) {
	p, f := s.api(c, c.str("apiId"), false)
	if f != nil {
		return nil, f
	}
	a := c.args()
	description := a.opt("description", text1024)
	if f := a.failure(); f != nil {
		return nil, f
	}
	var st *Stage
	if name := c.str("stageName"); name != "" {
		if st = findChild(p.Stages, name); st == nil {
			return nil, notFound("NotFoundException", "Invalid stage identifier specified")
		}
		if isTrue(st.AutoDeploy) {
			return nil, badRequest("Stage %s is deployed automatically", name)
		}
	}
	if len(p.Routes) == 0 {
		return nil, badRequest(noRoutes)
	}
	d := c.deployment(p)
	if description != nil {
		d.Description = *description
	}
	if f := deployments.add(p, d); f != nil {
		return nil, f
	}
	if st != nil {
		st.DeploymentID, st.UpdatedAt = d.ID, c.now
	}
	return deployments.show(d), nil
}

// deployment is what the API is now.
func (c *call) deployment(p *Api) *Deployment {
	d := &Deployment{Birth: c.born(), ID: randomID(childIDAlphabet, deploymentIDLen), Routes: []DeployedRoute{}}
	for _, r := range p.Routes {
		deployed := DeployedRoute{RouteKey: r.RouteKey}
		if i := find(p.Integrations, func(i *Integration) bool { return r.Target == "integrations/"+i.ID }); i != nil {
			was := *i
			deployed.Integration = &was
		}
		d.Routes = append(d.Routes, deployed)
	}
	return d
}

func (s *Server) updateDeployment(c *call) (any, *failure) {
	_, d, f := deployments.get(s, c, false)
	if f != nil {
		return nil, f
	}
	a := c.args()
	description := a.opt("description", text1024)
	if f := a.failure(); f != nil {
		return nil, f
	}
	if description != nil {
		d.Description = *description
	}
	return deployments.show(d), nil
}

// deleteDeployment refuses while a stage serves it.
func (s *Server) deleteDeployment(c *call) (any, *failure) {
	p, d, f := deployments.get(s, c, false)
	if f != nil {
		return nil, f
	}
	if st := find(p.Stages, func(st *Stage) bool { return st.DeploymentID == d.ID }); st != nil {
		return nil, badRequest("Active stages pointing to this deployment must be moved or deleted")
	}
	deployments.remove(p, d)
	return nil, nil
}

// autoDeploy deploys an API that was changed to the stages that ask for it. What no stage serves any more goes.
func (s *Server) autoDeploy(c *call, p *Api) {
	for _, st := range p.Stages {
		if isTrue(st.AutoDeploy) {
			s.autoDeployStage(c, p, st)
		}
	}
	p.Deployments = filter(p.Deployments, func(d *Deployment) bool {
		return !d.Auto || find(p.Stages, func(st *Stage) bool { return st.DeploymentID == d.ID }) != nil
	})
}

func (s *Server) autoDeployStage(c *call, p *Api, st *Stage) {
	if !isTrue(st.AutoDeploy) {
		return
	}
	if len(p.Routes) == 0 {
		st.Deployed = "Deployment attempt failed: " + noRoutes
		return
	}
	d := c.deployment(p)
	d.Auto, d.Description = true, "Automatic deployment triggered by changes to the Api configuration"
	p.Deployments = append(p.Deployments, d)
	st.DeploymentID, st.UpdatedAt = d.ID, c.now
	st.Deployed = "Successfully deployed stage with deployment ID '" + d.ID + "'"
}
