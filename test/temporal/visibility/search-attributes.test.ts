import { expect, test } from "vitest";
import { randomUUID } from "node:crypto";
import { ConfigurationError } from "../../../src/config/errors.js";
import { searchAttributes } from "../../../src/contracts/shared/names.js";
import {
  missingSearchAttributes,
  registerSearchAttributes,
} from "../../../src/temporal/visibility/search-attributes.js";
import { registerNamespace, testTemporal } from "../support.js";
import { ofFile } from "../../harness/of-file.js";

const names = Object.values(searchAttributes).map(({ name }) => name);

const env = ofFile(testTemporal);

async function newNamespace(): Promise<string> {
  const namespace = randomUUID();
  await registerNamespace(env, namespace);
  return namespace;
}

test("a fresh namespace misses all of them, and none once they are registered, from either kind of connection", async () => {
  expect(await missingSearchAttributes(env.connection, env.namespace)).toEqual(names);
  await registerSearchAttributes(env.nativeConnection, env.namespace);
  expect(await missingSearchAttributes(env.nativeConnection, env.namespace)).toEqual([]);
  await registerSearchAttributes(env.connection, env.namespace);
});

test("several starters may register at once, and what is missing alone is added", async () => {
  const namespace = await newNamespace();
  await env.connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: { TrustflowPhase: 2 },
  });
  expect(await missingSearchAttributes(env.connection, namespace)).toEqual(
    names.filter((name) => name !== "TrustflowPhase"),
  );
  await Promise.all([1, 2, 3].map(() => registerSearchAttributes(env.connection, namespace)));
  expect(await missingSearchAttributes(env.connection, namespace)).toEqual([]);
});

test("a name that is taken by another type is named", async () => {
  const namespace = await newNamespace();
  await env.connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: { TrustflowDeadline: 2 },
  });
  const registering = registerSearchAttributes(env.connection, namespace);
  await expect(registering).rejects.toThrow(ConfigurationError);
  await expect(registering).rejects.toThrow(
    `TrustflowDeadline of the namespace "${namespace}" is of type INDEXED_VALUE_TYPE_KEYWORD but must be INDEXED_VALUE_TYPE_DATETIME`,
  );
});
