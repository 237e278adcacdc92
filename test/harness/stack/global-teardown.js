// Stops what global-setup.js started.
export default async function tearDown() {
  await Reflect.get(globalThis, "trustflowTestPostgres")?.close();
}
