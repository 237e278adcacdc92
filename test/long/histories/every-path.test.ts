// Every path of every process with no process kept in memory, and nothing personal in what was written meanwhile
// (docs/design.md §1.5, §8).
import { testPaths } from "../../histories/path-tests.js";
import { allPaths } from "../../harness/histories/paths.js";

testPaths(allPaths, {
  secrets: [
    "assertion",
    "callToken",
    "certificate.password",
    "certificate.securityCode",
    "code",
    "deviceCode",
    "disposableCertificate.password",
    "disposableCertificate.securityCode",
    "esawToken",
    "evidenceAccessControlChallengeResponse",
    "notice.evidenceAccessControlChallengeResponse",
    "options.evidenceAccessControlChallengeResponse",
    "post.options.evidenceAccessControlChallengeResponse",
    "the accounts' password",
  ],
  least: 70,
});
