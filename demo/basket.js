// The basket of the flow `checkout`. It is changed by its commands alone, which know the prices of the catalogue: no client
// can forge its total.

import { button, element, readable } from "./dom.js";
import { current, word } from "./words.js";

export const isBasket = (name, document) =>
  name === "basket" && Array.isArray(document?.items) && typeof document.total === "number";

/** Cents, as the services count. */
const money = (cents) => new Intl.NumberFormat(current(), { style: "currency", currency: "EUR" }).format(cents / 100);

/** So that there is something to order. Another configuration may have another basket, or none: checkout begins without. */
export async function fillBasket(session) {
  const names = (await session.services()).map(({ name }) => name);
  if (!names.includes("basket") || !names.includes("catalogue")) return;
  const [service, catalogue] = [session.service("basket"), session.service("catalogue")];
  try {
    await Promise.all([service.get(), catalogue.get()]);
    if (!isBasket("basket", service.value) || service.value.items.length > 0) return;
    for (const { sku } of catalogue.value.items?.slice(0, 2) ?? []) await service.call("add", { sku });
  } catch (problem) {
    if (problem.status === undefined) throw problem;
  }
}

/** What is in it, with a button to take each out. */
export function basket(name, { items, total }, pane) {
  const service = pane.session.service(name);
  const remove = (sku) => () => pane.attempt(() => service.call("remove", { sku }));
  const row = ({ sku, name, price, quantity }) =>
    element(
      "tr",
      {},
      element("td", {}, `${quantity} × ${name ?? sku}`),
      element("td", {}, money(price * quantity)),
      element("td", {}, button(word("Remove"), remove(sku), "", { "aria-label": `${word("Remove")}: ${name ?? sku}` })),
    );
  return [
    element("h4", {}, readable(name)),
    element(
      "table",
      { class: "basket" },
      element("tbody", {}, items.map(row)),
      element("tfoot", {}, element("tr", {}, element("th", { scope: "row" }, word("Total")), element("td", {}, money(total)), element("td", {}))),
    ),
  ];
}

/** An event that takes the total of the basket is sent with the one that is shown, so it needs no field. */
export function withShownTotal(event, { basket }) {
  const { total, ...properties } = event.schema.properties ?? {};
  if (!total || !isBasket("basket", basket)) return { schema: event.schema, complete: (data) => data };
  return { schema: { ...event.schema, properties }, complete: (data) => ({ ...data, total: basket.total }) };
}
