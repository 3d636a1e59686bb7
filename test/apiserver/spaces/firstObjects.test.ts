/** Objects of the initial spaces from the first start of a server. */
import t from 'tap'
import { FIRST_OBJECTS } from '../../../src/cli/orrery/server/placementOptions.ts'
import { startTestServer } from '../../support/server.ts'

const EDGE = '/apis/edge.kubestellar.io/v2alpha1'
const BINDING = `${EDGE}/inventorybindings/imw1`
const GRANT = `${EDGE}/placementgrants/wmw1`

t.test('the first workload space is bound to the first inventory, which grants it everything', async t => {
  const { api } = await startTestServer(t, { more: { firstObjects: FIRST_OBJECTS } })
  t.match(await api.ok(api.in('root:wmw1').get(BINDING)), { spec: { path: 'root:imw1' } })
  t.match(await api.ok(api.in('root:imw1').get(GRANT)), {
    spec: {
      spaces: [{ path: 'root:wmw1' }],
      clusterScoped: true,
      grantingKinds: true,
      upsync: [{ apiGroup: '*', resources: ['*'] }],
    },
  })
})

t.test('what is deleted of it stays away after a restart', async t => {
  const first = await startTestServer(t, { more: { firstObjects: FIRST_OBJECTS } })
  await first.api.ok(first.api.in('root:imw1').delete(GRANT))
  const second = await first.restart()
  t.match(await second.api.in('root:imw1').get(GRANT), { code: 404 })
  t.match(await second.api.in('root:wmw1').get(BINDING), { code: 200 })
})
