// What every status means for every operation (P1 §7.3 shows none: all are `once`).
import { denied, limited, protocol, refused, testRefusals, unknown } from "../refusals.js";
import { accountAt, calls, operations } from "./account.js";

testRefusals<keyof typeof calls>({
  call: (operation, url) => calls[operation](accountAt(url)),
  body: (code, message) => ({ code, message }),
  columns: [operations],
  table: [
    [302, unknown],
    [400, refused],
    [401, denied],
    [403, denied],
    [404, protocol],
    [405, protocol],
    [408, unknown],
    [409, unknown],
    [413, protocol],
    [429, limited],
    [500, unknown],
    [503, unknown],
  ],
  refusing: "createOperator",
});
