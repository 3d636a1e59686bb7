/**
 * Cost of many CustomResourceDefinitions: starting with them, discovery and OpenAPI documents before and after one of them changes, and a
 * definition made beside them. In parentheses: the longest that another client waited for /livez meanwhile. Measures and prints; asserts
 * nothing.
 *
 *   node bench/crds.ts [--crds 1000]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { atMost } from '../src/client/atMost.ts'
import { mib } from './serverState.ts'
import { answerTo, orreryOf, type RunningServer, TREE } from './servers.ts'

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const OPENAPI_PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
const AT_ONCE = 32

const { values } = parseArgs({ options: { crds: { type: 'string', default: '1000' } } })
const count = Number(values.crds)

/** A size as of operators' CRDs: some 10 KB of schema, each a little different. */
function definition(index: number, revision = 0): object {
  const leaf = (n: number) => ({
    type: 'string',
    maxLength: 63,
    description: `Field ${n} of kind ${index}, revision ${revision}.`,
  })
  const fields = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`field${n}`, leaf(n)]))
  const nested = { type: 'array', maxItems: 16, items: { type: 'object', properties: fields } }
  const rule = { rule: 'self.replicas >= 0', message: 'replicas cannot be negative' }
  const spec = {
    type: 'object',
    properties: { ...fields, replicas: { type: 'integer', default: 1 }, parts: nested },
    'x-kubernetes-validations': [rule],
  }
  const schema = {
    type: 'object',
    properties: { spec, status: { type: 'object', properties: { phase: { type: 'string' } } } },
  }
  const plural = `kind${index}s`
  const group = `group${index % 50}.example.com`
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular: `kind${index}`, kind: `Kind${index}`, listKind: `Kind${index}List` },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources: { status: {} } },
      ],
    },
  }
}

/** Milliseconds until an answer is there, and its size in bytes. */
interface Answer {
  ms: number
  bytes: number
}

async function timed({ endpoint }: RunningServer, request: Parameters<typeof answerTo>[1]): Promise<Answer> {
  const begun = performance.now()
  const { length } = await answerTo(endpoint, request)
  return { ms: performance.now() - begun, bytes: length }
}

async function documents(server: RunningServer, when: string): Promise<void> {
  for (const [name, path, accept] of [
    ['aggregated discovery', '/apis', AGGREGATED],
    ['group list', '/apis', undefined],
    ['one group version', '/apis/group1.example.com/v1', undefined],
    ['OpenAPI v3 index', '/openapi/v3', undefined],
    ['OpenAPI v3, one group version', '/openapi/v3/apis/group1.example.com/v1', undefined],
    ['OpenAPI v2, JSON', '/openapi/v2', undefined],
    ['OpenAPI v2, protobuf', '/openapi/v2', OPENAPI_PROTOBUF],
  ] as const) {
    const get = (): Promise<Answer> => timed(server, { path, ...(accept && { accept }) })
    const first = await longestWaitBeside(server, get)
    const second = await longestWaitBeside(server, get)
    const times = ({ answer, waitMs }: Beside): string => `${answer.ms.toFixed(1)} ms (${waitMs.toFixed(1)})`
    const size = `${(first.answer.bytes / 1024).toFixed(0)} KiB`
    report(`${when}: ${name}`, `${times(first)}, again ${times(second)}, ${size}`)
  }
}

interface Beside {
  answer: Answer
  /** The longest that another client waited for a trifle meanwhile. */
  waitMs: number
}

async function longestWaitBeside(server: RunningServer, get: () => Promise<Answer>): Promise<Beside> {
  let done = false
  const answer = get().finally(() => {
    done = true
  })
  let waitMs = 0
  while (!done) waitMs = Math.max(waitMs, (await timed(server, { path: '/livez' })).ms)
  return { answer: await answer, waitMs }
}

function report(what: string, value: string): void {
  console.log(`${what.padEnd(60)} ${value}`)
}

const megabytes = async (server: RunningServer): Promise<string> => `${mib(await server.residentBytes(), 0)} resident`

const dir = mkdtempSync(join(tmpdir(), 'orrery-bench-'))
try {
  let server = await orreryOf(TREE).start(dir)
  report('start, empty', `${server.readyMs.toFixed(0)} ms, ${await megabytes(server)}`)
  const begun = performance.now()
  const { endpoint } = server
  const make = (i: number) => answerTo(endpoint, { method: 'POST', path: CRDS, body: definition(i) })
  await atMost(AT_ONCE, Array(count).keys(), make)
  report(`${count} definitions made`, `${(performance.now() - begun).toFixed(0)} ms, ${await megabytes(server)}`)
  await documents(server, 'first')
  const one = await timed(server, { method: 'POST', path: CRDS, body: definition(count) })
  report('one more definition', `${one.ms.toFixed(1)} ms`)
  await documents(server, 'after one more')
  await server.stop()
  server = await orreryOf(TREE).start(dir)
  report(`start, ${count} definitions`, `${server.readyMs.toFixed(0)} ms, ${await megabytes(server)}`)
  await documents(server, 'after a restart')
  await server.stop()
} finally {
  rmSync(dir, { recursive: true, force: true })
}
