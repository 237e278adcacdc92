// The commands of the pages that are not run as they stand there, each with its reason.
import { processes } from "../../src/contracts/registry.js";
import { textOf } from "./repository.js";
import { nameOf, shellBlocks } from "./shell-blocks.js";
import type { ShownCommand } from "./shell-blocks.js";

export interface Exception {
  page: string;
  /** Without its comment. */
  command: string;
  reason: string;
  /** What is run in its place. */
  instead?: string;
  /** The tests that run the same. */
  coveredBy?: string;
}

/** It runs what stands in it, in the order of the pages. */
const deployment = "test/compose/deployment.test.ts";
const minutes = "it takes many minutes";
const fromTemplate = processes
  .filter((name) => name !== "sendPostal")
  .map((name) => `docs/reference/${name}.md`);

export const exceptions: Exception[] = [
  ...fromTemplate.flatMap((page) =>
    shellBlocks(page).flatMap(({ commands }) =>
      commands.map((command) => ({
        page,
        command: nameOf(command),
        reason: "the page of sendPostal is made from the same template, and its commands are run",
        coveredBy: "test/long/e2e/json-output.test.ts",
      })),
    ),
  ),
  {
    page: "README.md",
    command: "npm test",
    reason: "it runs the tests, and so this one",
    coveredBy: "test",
  },
  ...["npm run record-histories", "npm run record-histories -- issueCertificate"].map(
    (command) => ({
      page: "docs/testing.md",
      command,
      reason: `${minutes}; the third of them records one path`,
    }),
  ),
  ...[
    "",
    " -- --for 8h",
    " -- --process sendPostal --fault killWorker --for 10m",
    " -- --defect NAME",
    " -- --replay FILE",
  ].map((options) => ({
    page: "docs/simulation.md",
    command: `npm run simulate${options}`,
    reason: minutes,
    coveredBy: "test/simulation",
  })),
  {
    page: "docs/simulation.md",
    command: "npm run simulate -- --seed 7 --steps 8",
    reason: "the test of the command runs fewer steps of this seed",
    coveredBy: "test/simulation/simulate.test.ts",
  },
  ...[
    "npm run bench",
    "npm run bench -- --quick",
    "npm run bench -- --only processes --json",
    "npm run bench -- --only processes --cpu-prof DIR",
    "npm run bench -- --only costs",
  ].map((command) => ({
    page: "docs/benchmarks.md",
    command,
    reason: minutes,
    coveredBy: "test/long/bench/smoke.test.ts",
  })),
  ...[
    ["docs/benchmarks.md", "npm run bench -- --cluster"],
    ["docs/operations/costs.md", "npm run bench -- --cluster --only costs"],
  ].map(([page = "", command = ""]) => ({
    page,
    command,
    reason: "it builds Temporal's server with Go, which takes minutes",
  })),
  {
    page: "docs/operations/stuck.md",
    command:
      'temporal workflow reset --workflow-id sendPostal/ORDER-7 --event-id N --reason "history does not replay"',
    reason: "it needs Temporal's own command line, which the dev server is no part of",
    coveredBy: "test/long/e2e/stuck.test.ts",
  },
  {
    page: "docs/operations/install.md",
    command: "node scripts/pin-image.mjs",
    reason: "it asks Docker Hub",
    coveredBy: "test/scripts/supply-chain.test.ts",
  },
  ...["install", "keys", "upgrade", "retention"]
    .map((name) => `docs/operations/${name}.md`)
    .flatMap((page) =>
      shellBlocks(page)
        .filter(({ isElsewhere }) => isElsewhere)
        .flatMap(({ commands }) => commands.map(nameOf))
        .filter((command) => textOf(deployment).includes(command))
        .map((command) => ({
          page,
          command,
          reason: "it needs a container engine",
          coveredBy: deployment,
        })),
    ),
  ...[
    "kubectl create configmap trustflow --from-env-file=.env",
    "kubectl create configmap trustflow-accounts --from-env-file=accounts.env",
    "kubectl create secret generic trustflow --from-file=secrets --from-file=secrets/tls",
    "kubectl create secret generic trustflow-accounts --from-file=secrets/accounts",
    "kubectl create secret generic trustflow-certificates --from-file=certificates",
    "kubectl apply -f deploy/kubernetes/network-policies.yaml -f deploy/kubernetes/trustflow.yaml",
    "kubectl scale deployment/cli --replicas=1",
    "kubectl exec -it deployment/cli -- trustflow doctor",
  ].map((command) => ({
    page: "docs/operations/kubernetes-systemd.md",
    command,
    reason: "it needs a cluster",
    coveredBy: "test/deploy/kubernetes.test.ts",
  })),
  ...[
    "useradd --system trustflow",
    "ln -s /opt/trustflow/dist/cli.js /usr/local/bin/trustflow",
    "install -d -m 700 /etc/trustflow/secrets /etc/trustflow/secrets/accounts /etc/trustflow/secrets/tls",
    "cp -r secrets/. /etc/trustflow/secrets/",
    "install -m 600 .env /etc/trustflow/settings.env",
    "install -m 600 accounts.env /etc/trustflow/accounts.env",
    "cp -r deploy/systemd/trustflow@* /etc/systemd/system/",
    "install deploy/systemd/trustflow-run /usr/local/sbin/",
    "systemctl daemon-reload",
    "systemctl start trustflow@migrate",
    "systemctl enable --now trustflow@worker trustflow@receiver trustflow@relay trustflow@codec-server",
    "systemctl enable --now trustflow@cleanup.timer trustflow@repair.timer",
    "trustflow-run cli doctor",
    "trustflow-run cli send-postal --id order-7 --input - < letter.json",
    "trustflow-run cli result sendPostal/order-7",
    'trustflow-run erase sendPostal/order-7 --by "Ana Ruiz"',
  ].map((command) => ({
    page: "docs/operations/kubernetes-systemd.md",
    command,
    reason: "it needs a host that runs systemd",
    coveredBy: "test/long/deploy/systemd.test.ts",
  })),
];

export const exceptionTo = (page: string, command: ShownCommand): Exception | undefined =>
  exceptions.find((one) => one.page === page && one.command === nameOf(command));
