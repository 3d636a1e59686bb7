import t from 'tap'
import type { AuthorizedRequest } from '../../../src/apiserver/access/accessControl.ts'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import { exchangeFor } from '../../../src/apiserver/endpoints/dispatch.ts'
import type { Exchange, Services } from '../../../src/apiserver/exchange/exchange.ts'
import type { Answer } from '../../../src/apiserver/http/answer.ts'
import type { Request } from '../../../src/apiserver/http/request.ts'
import { TypeRegistry } from '../../../src/apiserver/types/typeRegistry.ts'
import { WorkTurns } from '../../../src/program/workTurns.ts'

const services = {
  types: new TypeRegistry(loadCatalog().types),
  work: new WorkTurns({ sliceMs: 0, clock: () => 0 }),
  protobuf: { supports: () => true },
} as unknown as Services

function exchangeOf(isLarge: boolean, answer = { destroyed: false }): Exchange {
  const resource = { group: '', version: 'v1', resource: 'configmaps', namespace: 'default', name: '', subresource: '' }
  const authorized = { info: { verb: 'create', resource }, user: { name: 'alice', groups: [] }, space: 'root' }
  return exchangeFor(
    services,
    { isLarge, headers: {} } as Request,
    answer as Answer,
    authorized as unknown as AuthorizedRequest,
    {},
  )
}

t.test('a large body takes turns with other long work as long as its client waits; a small one does not', async t => {
  t.equal(exchangeOf(false).work, undefined)
  const answer = { destroyed: false }
  const { work } = exchangeOf(true, answer)
  t.equal(work?.due, true)
  await work?.rest()
  answer.destroyed = true
  await t.rejects(work!.rest(), { name: 'Abandoned' })
})
