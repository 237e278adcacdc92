// Preloaded into a role under test (`node --import`): the first statement that contains HOLD_STATEMENT blocks, before it is
// sent or after it was committed, until the role is killed; HOLD_MARK is written at that point. Plain JavaScript, because
// the role runs from dist/.
import { writeFileSync } from "node:fs";
import pg from "pg";

const { HOLD_STATEMENT = "", HOLD_WHEN, HOLD_MARK = "" } = process.env;
const { query } = pg.Pool.prototype;

/**
 * @this {pg.Pool}
 * @param {string | { text: string }} statement
 * @param {unknown[]} rest
 */
async function hold(statement, ...rest) {
  const send = () => Reflect.apply(query, this, [statement, ...rest]);
  const text = typeof statement === "string" ? statement : statement.text;
  if (!text.includes(HOLD_STATEMENT)) return send();
  if (HOLD_WHEN === "after") await send();
  writeFileSync(HOLD_MARK, "reached\n");
  return new Promise(() => undefined);
}

Reflect.set(pg.Pool.prototype, "query", hold);
