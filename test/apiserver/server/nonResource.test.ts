import type { FastifyReply, FastifyRequest } from 'fastify'
import t from 'tap'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import { apiResourceList } from '../../../src/apiserver/discovery/discovery.ts'
import { yamlText } from '../../../src/apiserver/endpoints/yamlWriter.ts'
import { type NonResourceDeps, NonResourceRoutes } from '../../../src/apiserver/server/nonResource.ts'
import type { AuthorizedRequest } from '../../../src/apiserver/server/pipeline.ts'
import { TypeRegistry } from '../../../src/apiserver/types/typeRegistry.ts'
import { WorkTurns } from '../../../src/program/workTurns.ts'

const builtin = loadCatalog().types
const pods = builtin.find(type => type.resource === 'pods')!
const many = Array.from({ length: 200 }, (_, i) => ({ ...pods, group: 'example.com', resource: `foos${i}` }))
const PROTOBUF = 'application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

function routes() {
  let rests = 0
  const later = (turn: () => void): void => {
    rests++
    setImmediate(turn)
  }
  const deps = {
    types: new TypeRegistry([...builtin, ...many]),
    work: new WorkTurns({ sliceMs: 0, clock: () => 0, later }),
    health: { checks: {}, readinessOnly: [] },
    flowControl: {},
    openId: {},
  } as unknown as NonResourceDeps
  const served = new NonResourceRoutes(deps)
  const get = async (path: string, accept: string): Promise<Buffer> => {
    let sent: Buffer = Buffer.alloc(0)
    const reply: object = {
      header: () => reply,
      code: () => reply,
      send: (body: Buffer) => {
        sent = body
      },
    }
    const request = { method: 'GET', headers: { accept } } as FastifyRequest
    const authorized = { info: { path, query: new URLSearchParams() }, space: 'team' } as unknown as AuthorizedRequest
    if (!(await served.handle(request, reply as FastifyReply, authorized))) throw new Error(`there is no ${path}`)
    return sent
  }
  return { get, rests: () => rests }
}

t.test('discovery of many kinds is made in slices, once for all who ask meanwhile', async t => {
  const { get, rests } = routes()
  const path = '/apis/example.com/v1'
  const asked = await Promise.all(Array.from({ length: 5 }, () => get(path, 'application/yaml')))
  t.equal(new Set(asked).size, 1)
  t.equal(asked[0]!.toString(), yamlText(apiResourceList(many, 'example.com', 'v1')))
  const once = rests()
  t.ok(once > 5, `${once} rests`)
  t.equal(await get(path, 'application/yaml'), asked[0])
  t.equal(rests(), once)
  await get('/apis', PROTOBUF)
  t.ok(rests() - once > many.length, `${rests() - once} rests`)
})
