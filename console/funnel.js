// Flows, and how many journeys have taken which transition.

import { element } from "./dom.js";
import { get, url } from "./api.js";
import { link, table, time } from "./lists.js";
import { columns, numbers, picture } from "./picture.js";

export async function flows() {
  const items = [];
  for (let path = "/v1/flows?limit=100"; path; ) {
    const page = await get(path);
    items.push(...page.items);
    path = page.next && url`/v1/flows?limit=100&cursor=${page.next}`;
  }
  const rows = items.map(({ id, versions, description }) => [link(url`#/flow/${id}`, id), versions.join(", "), description]);
  return [element("h1", {}, "Flows"), table("Flows that can be started", ["Flow", "Versions", "Description"], rows)];
}

export const funnelTable = (funnel, version) =>
  table(
    `Transitions of ${funnel.flow}`,
    ["From", "To", ...columns(version)],
    funnel.transitions.map((transition) => [transition.from, transition.to, ...numbers(transition, version)]),
  );

export const getFunnel = (flow, version) => get(url`/v1/flows/${flow}/funnel` + (version ? `?version=${encodeURIComponent(version)}` : ""));

export async function flow([id], query) {
  const version = query?.get("version");
  const funnel = await getFunnel(id, version);
  const standing = funnel.states.map((state) => [
    state.type === "flow" ? link(url`#/flow/${state.flow}`, state.id) : state.id, state.type,
    link(url`#/journeys?flow=${id}&state=${state.id}` + (version ? `&version=${encodeURIComponent(version)}` : ""), state.active),
  ]);
  const choice = (text, hash, isCurrent) => element("a", { href: hash, "aria-current": isCurrent ? "true" : undefined }, text);
  return [
    element("h1", {}, `Flow ${id}`),
    element(
      "p",
      { class: "actions" },
      choice("All versions", url`#/flow/${id}`, !version),
      funnel.versions.map((one) => choice(`Version ${one}`, url`#/flow/${id}?version=${one}`, String(one) === version)),
    ),
    element("p", {}, "Transitions that this server has seen since ", time(funnel.since), "; journeys of all servers. A day is one of UTC."),
    picture(funnel, { version }),
    funnelTable(funnel, version),
    table("Where journeys stand now", ["State", "Type", "Journeys"], standing),
  ];
}
