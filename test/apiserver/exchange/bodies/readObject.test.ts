import t from 'tap'
import { loadCatalog } from '../../../../src/apiserver/catalog/catalog.ts'
import { readObject } from '../../../../src/apiserver/exchange/bodies/readObject.ts'
import type { Exchange, Services } from '../../../../src/apiserver/exchange/exchange.ts'
import type { Request } from '../../../../src/apiserver/http/request.ts'
import { TypeRegistry } from '../../../../src/apiserver/types/typeRegistry.ts'

const types = new TypeRegistry(loadCatalog().types)
const services = { types } as unknown as Services
const BODY = Buffer.from('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"b","a":"c"}}')

function exchangeOf(work: Exchange['work']): Exchange {
  const request = { body: BODY, headers: { 'content-type': 'application/json' } } as unknown as Request
  const type = types.in('root').find('', 'v1', 'configmaps')!
  const info = { verb: 'create', query: new URLSearchParams() }
  const user = { name: 'alice', groups: [] }
  return { request, type, info, user, space: 'root', warnings: [], work } as unknown as Exchange
}

t.test('a large body is read in steps, and says the same as one that is read at once', async t => {
  let rests = 0
  const work = { due: true, rest: async () => void rests++ }
  const large = await readObject(services, exchangeOf(work))
  t.equal(rests, 2)
  const small = await readObject(services, exchangeOf(undefined))
  t.equal(rests, 2)
  t.strictSame(large.object, small.object)
  t.strictSame(large.context.findings?.([]), ['duplicate field "data.a"'])
  t.strictSame(small.context.findings?.([]), ['duplicate field "data.a"'])
})
