// Creates the resources of a folder with fhir-kit-client, one after the other over one connection. Called with the folder
// that has node_modules, the base address, the CA's certificate, the client's (certificate and key in one PEM file) and the
// folder of the resources. Prints the seconds that this took.
import { readFileSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [home, baseUrl, ca, client, folder] = process.argv.slice(2)
const packages = join(home, 'node_modules')
const { Client } = await import(pathToFileURL(join(packages, 'fhir-kit-client/dist/index.js')))
const { Agent, setGlobalDispatcher } = createRequire(join(home, 'package.json'))('undici')
const pem = readFileSync(client)
setGlobalDispatcher(new Agent({ connections: 1, connect: { ca: readFileSync(ca), cert: pem, key: pem } }))

const files = readdirSync(folder).sort()
const resources = files.map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')))
const fhir = new Client({ baseUrl })
const began = performance.now()
for (const body of resources) {
  await fhir.create({ resourceType: 'DocumentReference', body })
}
console.log((performance.now() - began) / 1000)
