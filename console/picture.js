// A picture of a flow: its states one below the other in the order in which they can be reached. Transitions to the next
// state go straight down, those that leave some out run at the right, those that lead back at the left, each in a lane.

import { element } from "./dom.js";

/** The numbers of a transition: of every version, of one, and of today. */
export const columns = (version) => ["All versions", version && `Version ${version}`, "Today"].filter(Boolean);
export const numbers = ({ all, versions, today }, version) => [all, ...(version ? [versions[version] ?? 0] : []), today];

const [width, lane, port, gap] = [190, 64, 16, 34];
const most = 200;

function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** The names of the states in the order of the funnel, and the ends last. */
function order({ states, transitions }) {
  const isEnd = (name) => name === "(finished)" || name === "(expired)";
  const names = new Set(["(start)", ...states.map(({ id }) => id), ...transitions.flatMap(({ from, to }) => [from, to])]);
  return [...names].sort((one, other) => isEnd(one) - isEnd(other));
}

/** Gives each edge of a side the innermost lane that is free over its length. Returns how many lanes there are. */
function assignLanes(edges) {
  const lanes = [];
  for (const edge of edges.sort((one, other) => one.bottom - one.top - (other.bottom - other.top))) {
    const isFree = (taken) => taken.every(({ top, bottom }) => bottom <= edge.top || edge.bottom <= top);
    const place = lanes.findIndex(isFree);
    edge.lane = place < 0 ? lanes.push([]) - 1 : place;
    lanes[edge.lane].push(edge);
  }
  return lanes.length;
}

/**
 * @param version whose numbers are shown beside those of all versions
 * @param here the state where the journey is
 */
export function picture(funnel, { version, here }) {
  const names = order(funnel);
  if (names.length > most) return element("p", { class: "none" }, `With more than ${most} states, ${funnel.flow} is not drawn.`);
  const edges = funnel.transitions.map((transition) => {
    const [from, to] = [names.indexOf(transition.from), names.indexOf(transition.to)];
    return { transition, from, to, top: Math.min(from, to), bottom: Math.max(from, to) };
  });
  const straight = edges.filter(({ from, to }) => to === from + 1);
  const right = edges.filter(({ from, to }) => to > from + 1);
  const left = edges.filter(({ from, to }) => to < from);
  const [lanesRight, lanesLeft] = [assignLanes(right), assignLanes(left)];
  const x = lanesLeft * lane + 12;

  // Where the edges of a side leave a state: those from above first, the inner ones nearest to what they lead to.
  const ports = (side, place) => [
    ...side.filter(({ bottom }) => bottom === place).sort((one, other) => one.lane - other.lane),
    ...side.filter(({ top }) => top === place).sort((one, other) => other.lane - one.lane),
  ];
  let y = 8;
  const boxes = names.map((name, place) => {
    const sides = [ports(right, place), ports(left, place)];
    const height = Math.max(38, port * (1 + Math.max(...sides.map(({ length }) => length))));
    const box = { name, y, height, sides };
    y += height + gap;
    return box;
  });
  const portOf = (edge, place, side) => {
    const box = boxes[place];
    const all = box.sides[side];
    return box.y + (box.height * (all.indexOf(edge) + 1)) / (all.length + 1);
  };

  const busiest = Math.max(1, ...edges.map(({ transition }) => transition.all));
  const draw = (edge, path, [tipX, tipY], tip, [labelX, labelY, anchor]) => {
    const { from, to, all } = edge.transition;
    const label = numbers(edge.transition, version).join(" · ");
    const kind = all ? "edge" : "edge untaken";
    return svg(
      "g",
      { class: kind },
      svg("title", {}, `${from} → ${to}: ${label}`),
      svg("path", { d: path, "stroke-width": 1 + (3 * all) / busiest }),
      svg("path", { class: "tip", d: `M${tipX} ${tipY} ${tip}` }),
      svg("text", { x: labelX, y: labelY, "text-anchor": anchor }, all ? label : ""),
    );
  };
  const middle = x + width / 2;
  const drawn = straight.map((edge) => {
    const [start, end] = [boxes[edge.from].y + boxes[edge.from].height, boxes[edge.to].y];
    return draw(edge, `M${middle} ${start} V${end - 6}`, [middle, end], "l-5 -9 h10 z", [middle + 8, (start + end) / 2 + 4, "start"]);
  });
  const around = (edge, side) => {
    const [edgeX, sign] = side === 0 ? [x + width, 1] : [x, -1];
    const laneX = edgeX + sign * (lane * edge.lane + 22);
    const [start, end] = [portOf(edge, edge.from, side), portOf(edge, edge.to, side)];
    const label = [laneX + sign * 4, (start + end) / 2 + 4, side === 0 ? "start" : "end"];
    return draw(edge, `M${edgeX} ${start} H${laneX} V${end} H${edgeX + sign * 6}`, [edgeX, end], `l${sign * 9} -5 v10 z`, label);
  };
  drawn.push(...right.map((edge) => around(edge, 0)), ...left.map((edge) => around(edge, 1)));

  const active = new Map(funnel.states.map(({ id, active }) => [id, active]));
  const shapes = boxes.map((box) => {
    const notes = [active.get(box.name) ? `${active.get(box.name)} now` : "", box.name === here ? "this journey" : ""].filter(Boolean);
    const [short, isEnd] = [box.name.length > 24 ? `${box.name.slice(0, 23)}…` : box.name, box.name.startsWith("(")];
    const center = box.y + box.height / 2;
    return svg(
      "g",
      { class: `state${box.name === here ? " here" : ""}${isEnd ? " end" : ""}` },
      svg("title", {}, box.name),
      svg("rect", { x, y: box.y, width, height: box.height, rx: isEnd ? 18 : 6 }),
      svg("text", { x: middle, y: center + (notes.length ? -2 : 5), "text-anchor": "middle", class: "name" }, short),
      ...(notes.length ? [svg("text", { x: middle, y: center + 14, "text-anchor": "middle" }, notes.join(" · "))] : []),
    );
  });
  const total = x + width + lanesRight * lane + 80;
  const text = `Flow ${funnel.flow}${version ? `, version ${version}` : ""}.${here ? ` The journey is on ${here}.` : ""}`;
  const image = svg("svg", { role: "img", "aria-label": `${text} A table has the same numbers.`, viewBox: `0 0 ${total} ${y}`, width: total, height: y }, ...drawn, ...shapes);
  return element(
    "figure",
    {},
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Picture of ${funnel.flow}` }, image),
    element("figcaption", {}, `${text} Numbers: ${columns(version).join(" · ").toLowerCase()}. Dashed: never taken.`),
  );
}
