// `trustflow schema PROCESS` prints the JSON Schema of a contract; `trustflow keys generate` makes keys.
import { type Command, Option } from "commander";
import { ringOf } from "../../config/config.js";
import { loadWithAccounts } from "../../providers/accounts.js";
import type { ProcessName } from "../../contracts/registry.js";
import { addCommand, processArgument } from "../command.js";
import { usageError } from "../output/exit.js";
import { writePrivate } from "../files.js";
import { writeAnswer, writeJson, writeNote } from "../output/output.js";
import { writeSecretFiles } from "./secret-files.js";
import { addSigningToken } from "./signing-token.js";
import { linesOf, terminal } from "../output/terminal.js";

const parts = ["input", "result", "status", "updates", "signals", "queries"] as const;

export function addSchema(program: Command): void {
  addCommand(program, "schema", {
    summary: "print the JSON Schema of a process",
    details: `Always prints JSON. The parts updates, signals and queries list each message by name, with its argument (none or
one) and its answer.`,
    example:
      "trustflow schema sendPostal --part result\ntrustflow schema issueCertificate --part updates",
  })
    .addArgument(processArgument())
    .addOption(new Option("--part <part>", "part of the contract").choices(parts).default("input"))
    .action(async (processName: ProcessName, { part }: { part: (typeof parts)[number] }) => {
      const { schemasOf } = await import("../../contracts/schemas.js");
      writeJson(schemasOf(processName)[part]);
    });
}

interface Generated {
  id: string;
  secrets?: string;
  json?: boolean;
}

export function addKeys(program: Command): void {
  const keys = addCommand(program, "keys", {
    summary: "generate keys",
    example: "trustflow keys generate",
    isGroup: true,
  });
  addCommand(keys, "generate", {
    summary: "print a key ring with one new key",
    details: `A ring is "id:base64,id:base64…": the first key encrypts, every key decrypts. To rotate, add
a new key last in every role and client and restart them; then put it first and restart them again. --secrets writes one
ring per purpose, a token of the codec server, a password for each database role and a list of logins of the Web UI without
an entry, each into its own file, in a folder that only its owner can enter.`,
    example: "trustflow keys generate --id 2026-11\ntrustflow keys generate --secrets secrets",
  })
    .option("--id <id>", "id of the new key", "k1")
    .option(
      "--secrets <directory>",
      "write each secret that docker-compose.yml reads into its own file; existing files stay",
    )
    .action(async ({ id, secrets, json }: Generated) => {
      const { generateKeyRing } = await import("../../crypto/key-ring.js");
      const newRing = () => {
        try {
          return generateKeyRing(id);
        } catch (error) {
          throw usageError(`--id: ${(error as Error).message}`);
        }
      };
      if (secrets !== undefined) {
        const written = await writeSecretFiles(secrets, newRing);
        if (json) return writeJson({ written });
        return writeNote(
          terminal`${secrets}: ${written.join(", ") || "all files existed already"}`,
        );
      }
      const ring = newRing();
      writeAnswer(json, { ring }, terminal`${ring}`);
    });
  addCommand(keys, "public", {
    summary: "print the public ring of keys.inbox or keys.secrets",
    details: `The receiver seals callback bodies with the public ring of keys.inbox (keys.inboxPublic); only the relay can open them.
Clients and relays seal secrets with the public ring of keys.secrets (keys.secretsPublic); only the workers can open them. Run
this command where the private ring is configured, each time its first key has changed.`,
    example: "trustflow keys public\ntrustflow keys public --of secrets",
  })
    .addOption(new Option("--of <ring>", "whose").choices(["inbox", "secrets"]).default("inbox"))
    .action(async ({ of, json }: { of: "inbox" | "secrets"; json?: boolean }) => {
      const { publicRingOf } = await import("../../crypto/sealed-box.js");
      const ring = publicRingOf(ringOf(loadWithAccounts(), of));
      writeAnswer(json, { ring }, terminal`${ring}`);
    });

  addCommand(keys, "operator <name>", {
    summary: "generate the key that signs a person's decisions",
    arguments: { name: "the operator's, as the workers' configuration has it: operators.NAME" },
    details: `The first line is secret and only for that person: it signs resolve, cancel and the other decisions.
The second line is the public key for the configuration of the workers. With --out the secret goes to a file
for keys.operator, and only the second line is printed.`,
    example: "trustflow keys operator ana\ntrustflow keys operator ana --out ana.key",
  })
    .option("--out <file>", "new file for the secret, which only you can read")
    .action(async (name: string, { out, json }: { out?: string; json?: boolean }) => {
      const { operatorName } = await import("../../config/operators.js");
      const [problem] = operatorName.safeParse(name).error?.issues ?? [];
      if (problem) throw usageError(`name: ${problem.message}`);
      const { generateOperatorKey } = await import("../../crypto/decision-signature.js");
      const { privateKey, publicKey } = generateOperatorKey();
      const secret = `${name}:${privateKey}`;
      if (out !== undefined) await writePrivate(out, `${secret}\n`, "--out");
      const values: Record<string, string> = {
        ...(out === undefined && { TRUSTFLOW_KEYS__OPERATOR: secret }),
        [`TRUSTFLOW_OPERATORS__${name.toUpperCase().replaceAll("-", "_")}__PUBLIC_KEYS`]: publicKey,
      };
      const lines = Object.entries(values).map(([key, value]) => terminal`${key}=${value}`);
      writeAnswer(json, values, linesOf(lines));
    });

  addSigningToken(keys);
}
