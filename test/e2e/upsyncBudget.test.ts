/** A cluster fills its mailbox only so far; the syncer, its inventory and the requesting space get a report, also of its end. */
import t from 'tap'
import { at as valueAt } from '../../src/apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../src/apimachinery/object.ts'
import { BUDGET_ANNOTATIONS } from '../../src/placement/spaces/spaceBudget.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { gone } from '../syncer/support/installation.ts'
import { CONFIGS, MAPS, NAMESPACES, PLACEMENTS, TARGETS, WORKSPACES } from '../syncer/support/kinds.ts'
import { until } from '../syncer/support/processes.ts'
import { condition, FLORIN, Florin, has } from './support/florin.ts'

const names = ['a', 'b', 'c']

t.test('what is carried up is bounded for each mailbox', { timeout: FILE_LIMIT_MS }, async t => {
  const florin = await Florin.begin(t)
  const { inventory, wds, cluster, core } = florin
  const id = await florin.mailboxOf(await inventory.get(TARGETS, FLORIN))
  const mailbox = florin.space(id)
  const { items } = await core.list(WORKSPACES)
  const { name = '' } = items.find(({ spec }) => isRecord(spec) && spec.cluster === id)?.metadata ?? {}
  const allow = (objects: string | null) =>
    core.patch(WORKSPACES, { name }, 'merge', {
      metadata: { annotations: { [BUDGET_ANNOTATIONS.carriedObjects]: objects } },
    })
  const carried = async (): Promise<string[]> => {
    const { items } = await mailbox.list(MAPS)
    return items.map(({ metadata }) => metadata.name ?? '').filter(each => names.includes(each))
  }
  await allow('1')
  await cluster.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'born' } })
  for (const each of names) {
    await cluster.create(MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: each, namespace: 'born' } })
  }
  const upsync = [{ apiGroup: '', resources: ['configmaps'], namespaces: ['born'], names }]
  await wds.patch(PLACEMENTS, { name: 'p' }, 'merge', { spec: { upsync } })

  const target = await until(inventory, TARGETS, FLORIN, has('UpsyncComplete', 'False', 'UpsyncBudgetExceeded'))
  t.match(
    condition(target, 'UpsyncComplete')?.message,
    /holds as much as may be carried up there: let less be selected/,
  )
  const full = (object: KubeObject | undefined) => String(condition(object, 'Placed')?.message).includes('spec.upsync')
  const told = condition(await until(wds, PLACEMENTS, { name: 'p' }, full), 'Placed')
  t.match(told, { status: 'False', reason: 'UpsyncBudgetExceeded' })
  t.match(told.message, /spec\.upsync: florin: as much is carried up from there as may be: select less/)
  const all = (object: KubeObject | undefined) => valueAt(object, 'status', 'refused', 'count') === 2
  const config = await until(mailbox, CONFIGS, { name: 'the-one' }, all)
  t.match(JSON.stringify(config?.status), /exceeded budget of what is carried up to space root:espw:[^ ]+: requested/)
  t.equal((await carried()).length, 1)

  await allow(null)
  for (const each of names) await until(mailbox, MAPS, { namespace: 'born', name: each }, object => !gone(object))
  await until(inventory, TARGETS, FLORIN, has('UpsyncComplete', 'True', 'WithinBudget'))
  await until(wds, PLACEMENTS, { name: 'p' }, has('Placed', 'True', 'AllPlaced'))
})
