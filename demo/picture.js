// A picture of a flow: its states one below the other in the order in which they can be reached. Transitions to the next
// state go straight down, those that leave some out run at the right, those that lead back at the left, each in a lane.

/** The number of states up to which a picture can be read. */
export const most = 200;

/** Sizes: with numbers beside the edges, and without. */
const wide = { width: 190, height: 38, port: 16, gap: 34, lane: 64, out: 22, margin: 80 };
export const narrow = { width: 140, height: 26, port: 9, gap: 16, lane: 10, out: 16, margin: 24 };

function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
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
 * @param names of the states, from the first to the last
 * @param transitions between them: `from`, `to`, `title`; `label`, `isUntaken` and `weight` (0 to 1) are optional
 * @param text the accessible name of the picture
 * @param here the state that is lit
 * @param notes the lines below the name of a state
 * @param link the address of a state, or null
 */
export function picture({ names, transitions, text, here, notes = () => [], link = () => null, sizes = wide }) {
  const { width, port, gap, lane, out } = sizes;
  const edges = transitions.map((transition) => {
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
    const height = Math.max(sizes.height, port * (1 + Math.max(...sides.map(({ length }) => length))));
    const box = { name, y, height, sides };
    y += height + gap;
    return box;
  });
  const portOf = (edge, place, side) => {
    const box = boxes[place];
    const all = box.sides[side];
    return box.y + (box.height * (all.indexOf(edge) + 1)) / (all.length + 1);
  };

  const draw = (edge, path, [tipX, tipY], tip, [labelX, labelY, anchor]) => {
    const { title, label = "", weight = 0, isUntaken } = edge.transition;
    return svg(
      "g",
      { class: isUntaken ? "edge untaken" : "edge" },
      svg("title", {}, title),
      svg("path", { d: path, "stroke-width": 1 + 3 * weight }),
      svg("path", { class: "tip", d: `M${tipX} ${tipY} ${tip}` }),
      svg("text", { x: labelX, y: labelY, "text-anchor": anchor }, label),
    );
  };
  const middle = x + width / 2;
  const drawn = straight.map((edge) => {
    const [start, end] = [boxes[edge.from].y + boxes[edge.from].height, boxes[edge.to].y];
    return draw(edge, `M${middle} ${start} V${end - 6}`, [middle, end], "l-5 -9 h10 z", [middle + 8, (start + end) / 2 + 4, "start"]);
  });
  const around = (edge, side) => {
    const [edgeX, sign] = side === 0 ? [x + width, 1] : [x, -1];
    const laneX = edgeX + sign * (lane * edge.lane + out);
    const [start, end] = [portOf(edge, edge.from, side), portOf(edge, edge.to, side)];
    const label = [laneX + sign * 4, (start + end) / 2 + 4, side === 0 ? "start" : "end"];
    return draw(edge, `M${edgeX} ${start} H${laneX} V${end} H${edgeX + sign * 6}`, [edgeX, end], `l${sign * 9} -5 v10 z`, label);
  };
  drawn.push(...right.map((edge) => around(edge, 0)), ...left.map((edge) => around(edge, 1)));

  const shapes = boxes.map((box) => {
    const [lines, href, isHere, isEnd] = [notes(box.name), link(box.name), box.name === here, box.name.startsWith("(")];
    const center = box.y + box.height / 2;
    const most = Math.floor(width / 8) + 1;
    const isLong = box.name.length > most;
    const attributes = {
      class: `state${isHere ? " here" : ""}${isEnd ? " end" : ""}`, "data-state": box.name, ...(href && { href }),
    };
    return svg(
      href ? "a" : "g",
      attributes,
      ...(isLong ? [svg("title", {}, box.name)] : []),
      svg("rect", { x, y: box.y, width, height: box.height, rx: isEnd ? 18 : 6 }),
      svg("text", { x: middle, y: center + (lines.length ? -2 : 5), "text-anchor": "middle", class: "name" }, isLong ? `${box.name.slice(0, most - 1)}…` : box.name),
      ...(lines.length ? [svg("text", { x: middle, y: center + 14, "text-anchor": "middle" }, lines.join(" · "))] : []),
    );
  });
  const total = x + width + lanesRight * lane + sizes.margin;
  const attributes = { role: names.some(link) ? "group" : "img", "aria-label": text, viewBox: `0 0 ${total} ${y}`, width: total, height: y };
  return svg("svg", attributes, ...drawn, ...shapes);
}
