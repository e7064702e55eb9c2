import { find, place } from "./orders.js";

export async function handler(event) {
  const id = event.pathParameters?.id;
  const body = id ? find(id) : place(JSON.parse(event.body ?? "{}"));
  return { statusCode: body ? 200 : 404, body: JSON.stringify(body ?? { error: "no such order" }) };
}
