// Forms for events, made of the JSON Schema that the server sends with each event (`?include=schema`). The browser checks
// the simple rules while one types; what a form cannot say, the server checks, and its findings land beside the fields.

import { element, readable } from "./dom.js";

let count = 0;

/** Whether an event takes data, so that it needs a form and not just a button. */
export function takesData(schema) {
  const keywords = ["properties", "required", "type", "enum", "const", "$ref", "allOf", "anyOf", "oneOf"];
  return Boolean(schema) && keywords.some((keyword) => keyword in schema);
}

/**
 * @param schema of the event's data
 * @param known a document whose members fill the fields
 * @param submit is called with the data; what it throws as a Problem is shown beside the fields
 */
export function form(title, schema, known, submit) {
  const fields = schema.properties ? group(schema, known, "") : whole(schema, known);
  const complaint = element("p", { class: "complaint", role: "alert" });
  const made = element(
    "form",
    {
      class: "form",
      onsubmit: async (event) => {
        event.preventDefault();
        complaint.textContent = "";
        for (const field of fields.all()) field.complain("");
        try {
          await submit(fields.read() ?? {});
        } catch (problem) {
          if (problem.code !== "invalid_input") throw problem;
          for (const { pointer, detail } of problem.errors) {
            const path = pointer.replace(/^\/data/, "");
            const field = fields.all().find((candidate) => candidate.path === path);
            if (field) field.complain(detail);
            else complaint.append(`${path.slice(1) || "This"} ${detail}. `);
          }
          made.querySelector("[aria-invalid=true]")?.focus();
        }
      },
    },
    fields.nodes,
    complaint,
    element("p", { class: "actions" }, element("button", { class: "primary", type: "submit" }, title)),
  );
  return made;
}

/** What names no members of its own, such as `$ref` or `oneOf`, is written as JSON. */
function whole({ title = "Data", description, examples }, known) {
  const texts = examples?.map((example) => JSON.stringify(example));
  const data = field("data", { title, description, examples: texts }, known, "", true);
  return { ...data, all: () => [data] };
}

/** The fields of an object. */
function group(schema, known, path) {
  const required = new Set(schema.required ?? []);
  // Members of JSON have no order, but their author listed what is required.
  const place = ([name]) => (required.has(name) ? [...required].indexOf(name) : required.size);
  const properties = Object.entries(schema.properties ?? {}).sort((one, other) => place(one) - place(other));
  const members = properties.map(([name, property]) => {
    const pointer = `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const make = property.properties ? nested : field;
    return [name, make(name, property, known?.[name], pointer, required.has(name))];
  });
  return {
    nodes: members.flatMap(([, member]) => member.nodes),
    all: () => members.flatMap(([, member]) => (member.all ? member.all() : [member])),
    read() {
      const entries = members.map(([name, member]) => [name, member.read()]);
      return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
    },
  };
}

function nested(name, schema, known, path) {
  const fields = group(schema, known, path);
  const legend = element("legend", {}, schema.title ?? readable(name));
  return { ...fields, nodes: [element("fieldset", {}, legend, fields.nodes)] };
}

/** One value: its label, its control, and a place for what is wrong with it. */
function field(name, schema, known, path, isRequired) {
  const id = `field-${++count}`;
  const types = [schema.type ?? []].flat();
  const choices = schema.enum?.filter((choice) => choice !== null);
  const isFlag = schema.const === true || types.includes("boolean");
  const isNumber = types.includes("integer") || types.includes("number");
  const isText = !isFlag && !isNumber && (choices || types.includes("string"));
  const common = { id, name, required: isRequired && !(isFlag && schema.const !== true), "aria-describedby": `${id}-note` };

  let control;
  if (choices) {
    const options = choices.map((choice) =>
      element("option", { value: JSON.stringify(choice), selected: choice === known }, readable(String(choice))),
    );
    control = element("select", common, element("option", { value: "" }, "Please choose"), options);
  } else if (isFlag) {
    control = element("input", { ...common, type: "checkbox", checked: known === true });
  } else if (isNumber) {
    const step = types.includes("integer") ? 1 : "any";
    const limits = { min: schema.minimum, max: schema.maximum, step };
    control = element("input", { ...common, ...limits, type: "number", value: known ?? "" });
  } else if (isText && (schema.maxLength ?? 0) <= 500) {
    const type = schema.writeOnly ? "password" : { date: "date", email: "email", uri: "url" }[schema.format] ?? "text";
    const limits = { maxlength: schema.maxLength, minlength: schema.minLength, autocomplete: "off" };
    control = element("input", { ...common, ...limits, type, value: known ?? "" });
  } else {
    const text = isText ? known : known === undefined ? "" : JSON.stringify(known, null, 2);
    control = element("textarea", { ...common, rows: 4 }, text ?? "");
  }

  const hints = [schema.description, schema.examples && `For example: ${schema.examples.join(", ")}`];
  if (!isText && !isFlag && !isNumber) hints.push("As JSON.");
  const note = element("span", { class: "hint", id: `${id}-note` }, hints.filter(Boolean).join(" "));
  const label = element("label", { for: id }, schema.title ?? readable(name), isRequired ? null : element("i", {}, "optional"));
  const rows = isFlag ? [control, label, note] : [label, control, note];
  return {
    path,
    nodes: [element("p", { class: isFlag ? "field flag" : "field" }, rows)],
    complain(detail) {
      control.toggleAttribute("aria-invalid", false);
      if (detail) control.setAttribute("aria-invalid", "true");
      note.classList.toggle("complaint", Boolean(detail));
      note.textContent = detail || hints.filter(Boolean).join(" ");
    },
    read() {
      if (isFlag) return control.checked || isRequired ? control.checked : undefined;
      if (control.value === "") return isRequired && isText ? "" : undefined;
      if (isNumber) return Number(control.value);
      if (choices) return JSON.parse(control.value);
      return isText ? control.value : parsed(control.value);
    },
  };
}

/** What is not JSON goes to the server as text, which says what is wrong with it. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
