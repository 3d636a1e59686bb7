/** `kubectl get componentstatuses`: the store, as it is now. */
import t from 'tap'
import { decodeObject } from '../../../src/apiserver/registry/codec.ts'
import { componentStatuses } from '../../../src/apiserver/registry/componentStatuses.ts'
import { createSpace, startTestServer } from '../../support/server.ts'

const PATH = '/api/v1/componentstatuses'
const TABLE = { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
const WARNING = '299 - "v1 ComponentStatus is deprecated in v1.19+"'

t.test('every space shows the store, with a warning', async t => {
  const { api, faults } = await startTestServer(t)
  for (const at of [api.in(await createSpace(api, 'one')), api.in(await createSpace(api, 'two'))]) {
    const list = await at.get(PATH)
    t.match(list, {
      code: 200,
      headers: { warning: WARNING },
      body: {
        kind: 'ComponentStatusList',
        items: [{ metadata: { name: 'etcd-0' }, conditions: [{ type: 'Healthy', status: 'True', message: 'ok' }] }],
      },
    })
    t.notOk(list.body.items[0]!.metadata.creationTimestamp)
    const one = await at.get(`${PATH}/etcd-0`)
    t.match(one, { code: 200, headers: { warning: WARNING }, body: { kind: 'ComponentStatus', apiVersion: 'v1' } })
    const { body } = await at.get(PATH, TABLE)
    t.same((body as unknown as { rows: { cells: unknown[] }[] }).rows[0]!.cells, ['etcd-0', 'Healthy', 'ok', ''])
    t.match((await at.get(`${PATH}?labelSelector=a=b`)).body.items, [])
    t.equal((await at.get(`${PATH}/scheduler`)).code, 404)
    t.equal((await at.get(`${PATH}?watch=1`)).code, 405)
    t.equal((await at.delete(`${PATH}/etcd-0`)).code, 405)
  }
  t.same(faults, [])
})

t.test('a store that takes no writes is unhealthy, from one answer to the next', async t => {
  let isWell = true
  const [layer] = componentStatuses(async () => isWell).values()
  const status = async (): Promise<unknown> => {
    const [stored] = await layer!.list(
      'one',
      { group: '', resource: 'componentstatuses' },
      { at: 1, names: ['etcd-0'] },
    )
    return decodeObject(stored!).conditions
  }
  t.match(await status(), [{ status: 'True' }])
  isWell = false
  t.match(await status(), [{ status: 'False', message: 'the store takes no writes' }])
})
