import type { FastifyReply, FastifyRequest } from 'fastify'
import t from 'tap'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import type { Exchange, Services } from '../../../src/apiserver/endpoints/exchange.ts'
import type { AuthorizedRequest } from '../../../src/apiserver/http/pipeline.ts'
import { exchangeFor } from '../../../src/apiserver/server/dispatch.ts'
import { TypeRegistry } from '../../../src/apiserver/types/typeRegistry.ts'
import { WorkTurns } from '../../../src/program/workTurns.ts'

const services = {
  types: new TypeRegistry(loadCatalog().types),
  work: new WorkTurns({ sliceMs: 0, clock: () => 0 }),
  protobuf: { supports: () => true },
} as unknown as Services

function exchangeOf(isLarge: boolean, raw = { destroyed: false }): Exchange {
  const resource = { group: '', version: 'v1', resource: 'configmaps', namespace: 'default', name: '', subresource: '' }
  const authorized = { info: { verb: 'create', resource }, user: { name: 'alice', groups: [] }, space: 'root' }
  return exchangeFor(
    services,
    { isLarge, headers: {} } as FastifyRequest,
    { raw } as FastifyReply,
    authorized as unknown as AuthorizedRequest,
  )
}

t.test('a large body takes turns with other long work as long as its client waits; a small one does not', async t => {
  t.equal(exchangeOf(false).work, undefined)
  const raw = { destroyed: false }
  const { work } = exchangeOf(true, raw)
  t.equal(work?.due, true)
  await work?.rest()
  raw.destroyed = true
  await t.rejects(work!.rest(), { name: 'Abandoned' })
})
