// The basket of the flow `checkout`. It is changed by its commands alone, which know the prices of the catalogue: no client
// can forge its total.

import { button, element, readable } from "./dom.js";
import { current, word } from "./words.js";

export const isBasket = (name, document) => Array.isArray(document?.items) && typeof document.total === "number";

/** Cents, as the services count. */
const money = (cents) => new Intl.NumberFormat(current(), { style: "currency", currency: "EUR" }).format(cents / 100);

/** So that there is something to order. Another configuration may have another basket, or none. */
export async function fillBasket(session) {
  const names = (await session.services()).map(({ name }) => name);
  if (!names.includes("basket") || !names.includes("catalogue")) return;
  const service = session.service("basket");
  const { items } = await session.service("catalogue").get();
  const { items: chosen } = await service.get();
  if (chosen.length === 0) for (const { sku } of items.slice(0, 2)) await service.call("add", { sku });
}

/** What is in it, with a button to take each out, and what else there is to buy. */
export function basket(name, { items, total }, pane) {
  const service = pane.session.service(name);
  const change = (command, body) => () => pane.attempt(() => service.call(command, body));
  const row = ({ sku, name, price, quantity }) =>
    element(
      "tr",
      {},
      element("td", {}, `${quantity} × ${name ?? sku}`),
      element("td", {}, money(price * quantity)),
      element("td", {}, button(word("Remove"), change("remove", { sku }), "", { "aria-label": `${word("Remove")}: ${name ?? sku}` })),
    );
  return [
    element("h4", {}, readable(name)),
    element(
      "table",
      { class: "basket" },
      element("tbody", {}, items.map(row)),
      element("tfoot", {}, element("tr", {}, element("th", { scope: "row" }, word("Total")), element("td", {}, money(total)), element("td", {}))),
    ),
    element("p", { class: "actions shelf" }, (pane.session.service("catalogue").value?.items ?? []).map(({ sku, name }) =>
      button(word("Add {name}", { name: name ?? sku }), change("add", { sku })))),
  ];
}
