/** Garbage of writes is collected by the quick collections of young objects. Garbage that waits for a full one makes all requests slow. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { apply } from '../../../src/apiserver/operations/apply.ts'
import { asking, configMap, type Heart, heart } from './support.ts'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as (how?: { type: 'minor' }) => void

const OBJECTS = 20
const WRITES = 200
/** Parsed, an object is some 20 KB. */
const DATA = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`key-${i}`, `value ${i}`]))

/** Bytes that each of many writes leaves for a full collection. */
async function leftBy(write: (turn: number) => Promise<unknown>): Promise<number> {
  for (let turn = 0; turn < WRITES; turn++) await write(turn)
  gc()
  for (let turn = 0; turn < WRITES; turn++) await write(WRITES + turn)
  // what is young and alive is old behind two of them
  for (let round = 0; round < 3; round++) gc({ type: 'minor' })
  const all = process.memoryUsage().heapUsed
  gc()
  return (all - process.memoryUsage().heapUsed) / WRITES
}

async function fill({ registry, type }: Heart) {
  const configMaps = type('v1/configmaps')
  for (let i = 0; i < OBJECTS; i++)
    await registry.create(asking(), configMaps, 'default', configMap(`object-${i}`, DATA))
  return configMaps
}

const sent = (name: string, turn: number): KubeObject =>
  JSON.parse(JSON.stringify(configMap(name, { ...DATA, turn: String(turn) })))

t.test('an update keeps nothing of what it worked with', async t => {
  const server = await heart(t)
  const type = await fill(server)
  const left = await leftBy(turn => {
    const name = `object-${turn % OBJECTS}`
    const change = { replacement: () => sent(name, turn) }
    return server.registry.update(asking(), type, 'default', name, change)
  })
  // of these 4 KB are what the test runner keeps of promises
  t.ok(left < 12_000, `${left} bytes`)
})

t.test('nor does a server-side apply', async t => {
  const server = await heart(t)
  const type = await fill(server)
  const left = await leftBy(turn => {
    const name = `object-${turn % OBJECTS}`
    const target = { context: asking({ fieldManager: 'me' }), type, namespace: 'default', name, subresource: '' }
    return apply(server.registry, target, sent(name, turn), { force: true })
  })
  t.ok(left < 12_000, `${left} bytes`)
})
