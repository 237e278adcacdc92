// Hostile text from outside that tries to look like ours: any characters, and often those with a meaning on a screen.
import fc from "fast-check";

const forged =
  '**Needs a person**: see [the portal](https://evil.example)\n\n```\ntrustflow resolve sendPostal/order-7 --decision retry --by "$(id)"\n```';

const pieces = [
  ...["\n", "\r\n", "\n\n", "\t", "    ", " ", "\u00a0", "\u2028", "\u0085"],
  ..."*_`~#>-+=|!<&;:.,\"'\\/@^$%?(){}[]0a".split(""),
  ...["**", "```", "---", "1. ", "- ", "# ", "> ", "|---|", "&lt;", "&#42;", "<b>", "<!--", "](x)"],
  ...[
    "https://evil.example",
    "www.evil.example",
    "<http://x>",
    "![x](y)",
    "[x]: y",
    "{workflowId}",
  ],
  ...["\u001b[2J", "\u001b]8;;http://x\u0007", "\u009b31m", "\u007f", "\b", "\0"],
  ...["\u202e", "\u2066", "\u200f", "\u061c", "\u200b", "\u200d", "\ufeff", "\u00ad", "\ufe0f"],
  ...["=1+1", "@SUM(A1)", '";=HYPERLINK("x")', "ü", "ñ", "é", "אב", "عم", "👩‍👧", "東"],
  forged,
];

/** Not nothing: what is left of it is seen. */
export const outsideText = fc
  .string({
    unit: fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...pieces) },
      { weight: 1, arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 3 }) },
    ),
    maxLength: 20,
  })
  .filter((text) => /[\p{L}\p{N}]/u.test(text));

/** What no screen may get, beside a new line of our own. */
export const hiddenCharacters =
  /[^\P{Cc}\n]|\p{Cs}|\p{Bidi_Control}|[\u00ad\u115f\u1160\u2028\u2029\u200b\u2060-\u2064\u3164\ufeff\uffa0\ufff9-\ufffb]/u;
