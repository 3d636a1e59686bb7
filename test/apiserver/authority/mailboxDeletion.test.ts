/** Nobody takes the mailbox away from a SyncTarget that is there, but the server itself. */
import t from 'tap'
import { FIRST_OBJECTS } from '../../../src/cli/orrery/server/placementOptions.ts'
import { createSpace, startTestServer } from '../../support/server.ts'

const { api, faults } = await startTestServer(t, { more: { firstObjects: FIRST_OBJECTS } })
const TARGETS = '/apis/edge.kubestellar.io/v2alpha1/synctargets'
const WORKSPACES = '/apis/tenancy.kcp.io/v1alpha1/workspaces'
const espw = api.in('root:espw')

t.test('the mailbox of a SyncTarget is not deleted by hand, and says what to do instead', async t => {
  const inventory = api.in('root:imw1')
  const id = await api.ok(api.get(`${WORKSPACES}/imw1`)).then(({ spec }) => (spec as { cluster: string }).cluster)
  const finalizers = ['edge.kubestellar.io/cluster']
  const body = { metadata: { name: 'florin', finalizers }, spec: {} }
  const { uid } = (await api.ok(inventory.post(TARGETS, body))).metadata
  const name = `${id}-mb-${uid}`
  await createSpace(espw, name)
  const refused = (message: RegExp) => ({ code: 403, body: { reason: 'Forbidden', message } })
  const instead =
    /it is the mailbox of SyncTarget "florin" of root:imw1: delete that instead.* syncer revoke florin --imw root:imw1$/
  t.match(await espw.delete(`${WORKSPACES}/${name}`), refused(instead))
  t.match(await espw.delete(WORKSPACES), { code: 403 }, 'nor with all others')
  await api.ok(inventory.delete(`${TARGETS}/florin`))
  const waits = new RegExp(
    `which is being deleted.*annotate the SyncTarget with edge.kubestellar.io/force-detach=${uid}$`,
  )
  t.match(await espw.delete(`${WORKSPACES}/${name}`), refused(waits))
  await api.ok(inventory.patch(`${TARGETS}/florin`, 'merge', { metadata: { finalizers: null } }))
  t.match(await espw.delete(`${WORKSPACES}/${name}`), { code: 200 }, 'without a SyncTarget it is in nobody’s way')
  t.same(faults, [])
})

t.test(
  'other children of the mailbox parent go as everywhere, and so do mailboxes of inventories that are gone',
  async t => {
    for (const name of ['people', 'abc123-mb-00000001-89ab-cdef-0123-456789abcdef']) {
      await createSpace(espw, name)
      t.match(await espw.delete(`${WORKSPACES}/${name}`), { code: 200 }, name)
    }
  },
)
