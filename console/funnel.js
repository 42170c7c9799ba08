// Flows, and how many journeys have taken which transition.

import { element } from "./dom.js";
import { get, url } from "./api.js";
import { link, table, time } from "./lists.js";
import { most, picture } from "./picture.js";

/** The numbers of a transition: of every version, of one, and of today. */
const columns = (version) => ["All versions", version && `Version ${version}`, "Today"].filter(Boolean);
const numbers = ({ all, versions, today }, version) => [all, ...(version ? [versions[version] ?? 0] : []), today];

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

/**
 * @param version whose numbers are shown beside those of all versions
 * @param here the state where the journey is
 */
export function funnelPicture(funnel, { version, here }) {
  const isEnd = (name) => name === "(finished)" || name === "(expired)";
  const found = new Set(["(start)", ...funnel.states.map(({ id }) => id), ...funnel.transitions.flatMap(({ from, to }) => [from, to])]);
  const names = [...found].sort((one, other) => isEnd(one) - isEnd(other));
  if (names.length > most) return element("p", { class: "none" }, `With more than ${most} states, ${funnel.flow} is not drawn.`);
  const busiest = Math.max(1, ...funnel.transitions.map(({ all }) => all));
  const transitions = funnel.transitions.map((transition) => {
    const { from, to, all } = transition;
    const label = numbers(transition, version).join(" · ");
    return { from, to, title: `${from} → ${to}: ${label}`, label: all ? label : "", isUntaken: !all, weight: all / busiest };
  });
  const active = new Map(funnel.states.map(({ id, active }) => [id, active]));
  const notes = (name) => [active.get(name) ? `${active.get(name)} now` : "", name === here ? "this journey" : ""].filter(Boolean);
  const text = `Flow ${funnel.flow}${version ? `, version ${version}` : ""}.${here ? ` The journey is on ${here}.` : ""}`;
  const image = picture({ names, transitions, here, notes, text: `${text} A table has the same numbers.` });
  return element(
    "figure",
    {},
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Picture of ${funnel.flow}` }, image),
    element("figcaption", {}, `${text} Numbers: ${columns(version).join(" · ").toLowerCase()}. Dashed: never taken.`),
  );
}

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
    funnelPicture(funnel, { version }),
    funnelTable(funnel, version),
    table("Where journeys stand now", ["State", "Type", "Journeys"], standing),
  ];
}
