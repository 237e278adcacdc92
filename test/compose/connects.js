// Run in the network of a container: prints for each address whether it takes a connection.
import { connect } from "node:net";

/** Above a lost packet's first repetition. */
const LIMIT_MS = 2_500;

/** @type {{ host: string, port: number }[]} */
const addresses = JSON.parse(process.argv[2] ?? "[]");
const taken = await Promise.all(
  addresses.map(
    (address) =>
      new Promise((resolve) => {
        const socket = connect({ ...address, timeout: LIMIT_MS });
        /** @param {boolean} isTaken */
        const end = (isTaken) => {
          socket.destroy();
          resolve(isTaken);
        };
        socket.on("connect", () => end(true));
        socket.on("timeout", () => end(false));
        socket.on("error", () => end(false));
      }),
  ),
);
console.log(JSON.stringify(taken));
