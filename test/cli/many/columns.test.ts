import { describe, expect, test } from "vitest";
import { columnsOf } from "../../../src/cli/many/columns.js";
import { exampleOf } from "../../../src/contracts/example.js";
import { contractOf, processes } from "../../../src/contracts/registry.js";

/** The paths of all values, with their text as a cell has it. */
function cellsOf(value: unknown, path: string[] = []): [name: string, cell: string][] {
  if (typeof value !== "object" || value === null) return [[path.join("."), String(value)]];
  return Object.entries(value).flatMap(([name, one]) => cellsOf(one, [...path, name]));
}

const postal = contractOf("sendPostal").input;
const problemsOf = (...header: string[]) => columnsOf(postal, ["id", ...header]).problems;

test.each(processes)("each property of the example of %s can be a column", (name) => {
  const example = JSON.parse(JSON.stringify(exampleOf(name)).replaceAll("{}", '{"member":"x"}'));
  const cells = cellsOf(example);
  const header = ["id", ...cells.map(([column]) => column)];
  const { problems, take } = columnsOf(contractOf(name).input, header);
  expect(problems).toEqual([]);
  const { id, input } = take(["order-7", ...cells.map(([, cell]) => cell)]);
  expect(id).toBe("order-7");
  expect(input).toEqual(example);
});

test.each(processes)(
  "%s has no property with the name of the column of the business id",
  (name) => {
    const [problem] = columnsOf(contractOf(name).input, ["id", "id.x"]).problems;
    expect(problem).toMatchObject({ path: "id.x" });
  },
);

test("what is the provider's alone keeps the names of its columns", () => {
  const names = ["providerFields.parameters.1", "providerFields.constructor.x"];
  const { problems, take } = columnsOf(contractOf("sendMessage").input, ["id", ...names]);
  expect(problems).toEqual([]);
  const providerFields = { parameters: { 1: "Ada" }, constructor: { x: "y" } };
  expect(take(["order-7", "Ada", "y"]).input).toEqual({ providerFields });
  expect(take(["order-8"]).input).toEqual({});
  const twice = ["id", "providerFields.to", "providerFields.to.x"];
  expect(columnsOf(contractOf("sendMessage").input, twice).problems).toEqual([
    { path: "providerFields.to", problem: "has members of its own: providerFields.to.x" },
  ]);
});

describe("a column is refused", () => {
  test.each([
    ["recipientNam", "is no property of the input; did you mean recipientName?"],
    ["recipientAddress", "has members: name one of them, as recipientAddress.streetAddress"],
    [
      "recipientAddress.planet",
      "is no property of the input; did you mean recipientAddress.locality?",
    ],
    ["__proto__.x", "is no property of the input"],
    ["", "is no property of the input"],
  ])("%j", (name, problem) => {
    expect(problemsOf(name)).toEqual([{ path: name === "" ? "#2" : name, problem }]);
  });

  test("which is there twice, and a header without id", () => {
    expect(problemsOf("recipientName", "recipientName")).toEqual([
      { path: "recipientName", problem: "is there twice" },
    ]);
    expect(columnsOf(postal, ["recipientName"]).problems).toEqual([
      { path: "id", problem: "is required: the business id" },
    ]);
  });

  test("below what is the provider's own, if it would change every object", () => {
    const { input } = contractOf("sendMessage");
    const names = ["id", "providerFields.to", "providerFields.a.__proto__.b"];
    expect(columnsOf(input, names).problems.map(({ path }) => path)).toEqual([names[2]]);
  });
});

test("numbers and booleans are those of the contract, and what is text there stays text", () => {
  const header = ["id", "lookupKey", "settings.pollIntervalSeconds", "options.costCentre"];
  const { take } = columnsOf(postal, header);
  expect(take(["7", "007", "30", ""])).toEqual({
    id: "7",
    input: { lookupKey: "007", settings: { pollIntervalSeconds: 30 } },
  });
  expect(take(["7", "", "soon", ""]).input).toEqual({ settings: { pollIntervalSeconds: "soon" } });
  const certificate = columnsOf(contractOf("issueCertificate").input, ["id", "settings.checkData"]);
  expect(certificate.take(["7", "FALSE"]).input).toEqual({ settings: { checkData: false } });
  expect(certificate.take(["7", "no"]).input).toEqual({ settings: { checkData: "no" } });
});

test("what has numbers for names is a list, with a gap where the row has nothing", () => {
  const { input } = contractOf("signEnvelope");
  const header = ["id", "documents.0.name", "documents.1.name", "documents.1.document.path"];
  const { problems, take } = columnsOf(input, header);
  expect(problems).toEqual([]);
  expect(take(["7", "a", "b", "b.pdf"]).input).toEqual({
    documents: [{ name: "a" }, { name: "b", document: { path: "b.pdf" } }],
  });
  expect(take(["7", "", "b", ""]).input).toEqual({ documents: [undefined, { name: "b" }] });
});
