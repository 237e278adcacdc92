// What every status means for every step (P1 §7.3 shows none: by effect class), in the words of either host.
import { accountAt, calls } from "./account.js";
import { away, denied, limited, protocol, refused, testRefusals, unknown } from "../refusals.js";

const steps = Object.keys(calls) as (keyof typeof calls)[];

testRefusals<keyof typeof calls>({
  call: (step, url) => calls[step](accountAt(url)),
  body: (ErrorId, Message) => ({ ErrorId, Message }),
  columns: steps.map((step) => [step]),
  table: [
    [302, unknown, away, unknown],
    [400, refused, protocol, protocol],
    [401, denied, denied, denied],
    [403, denied, denied, denied],
    [404, protocol, protocol, protocol],
    [405, protocol, protocol, protocol],
    [408, unknown, away, unknown],
    [409, unknown, away, unknown],
    [413, protocol, protocol, protocol],
    [429, limited, limited, limited],
    [500, unknown, away, unknown],
    [503, unknown, away, unknown],
  ],
  refusing: "esawoneshot",
});
