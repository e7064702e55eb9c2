const orders = new Map();

export function find(id) {
  return orders.get(id);
}

export function place({ item, count = 1 }) {
  const order = { id: String(orders.size + 1), item, count, state: "placed" };
  orders.set(order.id, order);
  return order;
}
