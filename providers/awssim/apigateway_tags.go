package awssim

import (
	"maps"
	"strings"
	"unicode/utf8"
)

// apiTags reads tags; at least an empty map.
func (a *args) apiTags() map[string]string {
	tags := a.tagMap("tags", shape{min: 1, max: maxApiTagKey}, shape{max: maxApiTagValue})
	if tags == nil {
		return map[string]string{}
	}
	return tags
}

func (c *call) checkApiTags(add, all map[string]string) *failure {
	for _, k := range sortedKeys(add) {
		if reserved(k) && !c.stranger {
			return badRequest("Invalid tag key %s: aws: is reserved", k)
		}
		if !utf8.ValidString(k) || !tagKeyShape.re.MatchString(k) || !tagValueShape.re.MatchString(add[k]) {
			return badRequest("Invalid tag %s: it has characters that are not allowed", k)
		}
	}
	if countTags(all) > maxApiTags {
		return badRequest("The number of tags exceeds the limit of %d", maxApiTags)
	}
	return nil
}

// gatewayTags finds the tags of the API or the stage that a resourceArn names.
func (s *Server) gatewayTags(c *call, read bool) (*map[string]string, *failure) {
	arn := c.str("resourceArn")
	if !strings.HasPrefix(arn, "arn:aws:apigateway:") {
		return nil, badRequest("Invalid resource ARN specified %s", arn)
	}
	id, ok := strings.CutPrefix(arn, "arn:aws:apigateway:"+c.region+"::/apis/")
	if !ok {
		return nil, notFound("NotFoundException", "Invalid resource ARN specified %s", arn)
	}
	id, name, isStage := strings.Cut(id, "/stages/")
	p, f := s.api(c, id, read)
	if f != nil {
		return nil, f
	}
	if !isStage {
		return &p.Tags, nil
	}
	st := findChild(p.Stages, name)
	if st == nil || read && !c.sees(st.Birth) {
		return nil, notFound("NotFoundException", "Invalid stage identifier specified")
	}
	return &st.Tags, nil
}

func (s *Server) tagGateway(c *call) (any, *failure) {
	a := c.args()
	tags := a.apiTags()
	if f := a.failure(); f != nil {
		return nil, f
	}
	have, f := s.gatewayTags(c, false)
	if f != nil {
		return nil, f
	}
	merged := maps.Clone(*have)
	maps.Copy(merged, tags)
	if f := c.checkApiTags(tags, merged); f != nil {
		return nil, f
	}
	*have = merged
	return struct{}{}, nil
}

func (s *Server) untagGateway(c *call) (any, *failure) {
	a := c.args()
	if !a.has("tagKeys") {
		a.missing("tagKeys")
	}
	keys := a.list("tagKeys", shape{min: 1, max: maxApiTagKey})
	if f := a.failure(); f != nil {
		return nil, f
	}
	have, f := s.gatewayTags(c, false)
	if f != nil {
		return nil, f
	}
	for _, k := range keys {
		if reserved(k) && !c.stranger {
			return nil, badRequest("Invalid tag key %s: aws: is reserved", k)
		}
	}
	for _, k := range keys {
		delete(*have, k)
	}
	return nil, nil
}

func (s *Server) getGatewayTags(c *call) (any, *failure) {
	have, f := s.gatewayTags(c, true)
	if f != nil {
		return nil, f
	}
	return map[string]any{"tags": *have}, nil
}
