/** Rows that stand in an order of their own: a long Table is made as it is read all the same. */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { encodeObject } from '../../../src/apiserver/registry/codec.ts'
import { accessOf, createSpace, startTestServer } from '../../support/server.ts'

const SCHEMAS = '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas'
const COUNT = 30
/** In an object; each takes some ten times its text once it is parsed. */
const EMPTIES = 100_000
const ALL_PARSED_BYTES = COUNT * EMPTIES * 16

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

t.test('of a list whose reader is slow, not all objects are held', async t => {
  const { api, server } = await startTestServer(t)
  // they are obeyed in the root alone
  const space = await createSpace(api, 'tenant')
  for (let i = 0; i < COUNT; i++) {
    const name = `s${i}`
    const key = { space, group: 'flowcontrol.apiserver.k8s.io', resource: 'flowschemas', namespace: '', name }
    const text = encodeObject({
      apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
      kind: 'FlowSchema',
      metadata: { name, uid: name },
      spec: {
        matchingPrecedence: 10_000 - i,
        priorityLevelConfiguration: { name: 'global-default' },
        rules: Array(EMPTIES).fill([]),
      },
    })
    await server.store.update(key, () => ({ type: 'put', text }))
  }
  collect()
  const before = process.memoryUsage().heapUsed
  const { ca, cert, key } = accessOf(server.kubeconfigPath)
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
  const sent = request(`${server.url}/clusters/${space}${SCHEMAS}?includeObject=Object`, {
    ca,
    cert,
    key,
    headers: { accept },
  })
  sent.end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  t.equal(answer.statusCode, 200)
  collect()
  const held = process.memoryUsage().heapUsed - before
  t.ok(held < ALL_PARSED_BYTES / 2, `${held} bytes of ${ALL_PARSED_BYTES}`)
  const chunks: Buffer[] = []
  for await (const chunk of answer) chunks.push(chunk as Buffer)
  const { rows } = JSON.parse(Buffer.concat(chunks).toString()) as { rows: { cells: [string] }[] }
  const names = rows.map(({ cells }) => cells[0]).filter(name => /^s\d+$/.test(name))
  t.strictSame(
    names,
    Array.from({ length: COUNT }, (_, i) => `s${COUNT - 1 - i}`),
  )
  api.close()
})
