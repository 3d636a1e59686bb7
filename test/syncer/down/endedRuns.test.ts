/** An end belongs to the spec that ran. A syncer without its state, and one that saw the run go on, recreate a run without an end. */
import t, { type Test } from 'tap'
import type { GroupVersionResource, KubeObject } from '../../../src/apimachinery/object.ts'
import { isOfThisSpec } from '../../../src/syncer/objects/reportedStatus.ts'
import { startCenter } from '../../support/center.ts'
import { temporaryDir } from '../../support/server.ts'
import { CRDS } from '../support/kinds.ts'
import { PROJECTED, pairIn } from '../support/pair.ts'

const center = await startCenter(t, { expectsTrouble: true })
const { world } = center
const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

interface Kind {
  readonly resource: GroupVersionResource
  readonly kind: string
  readonly hasSubresource: boolean
  readonly done: object
  readonly goesOn: object
}
const TASK_RUNS: Kind = {
  resource: { group: 'tekton.dev', version: 'v1', resource: 'taskruns' },
  kind: 'TaskRun',
  hasSubresource: true,
  done: { conditions: [{ type: 'Succeeded', status: 'True' }] },
  goesOn: { conditions: [{ type: 'Succeeded', status: 'Unknown' }] },
}
const WORKFLOWS: Kind = {
  resource: { group: 'argoproj.io', version: 'v1', resource: 'workflows' },
  kind: 'Workflow',
  hasSubresource: false,
  done: { phase: 'Succeeded' },
  goesOn: { phase: 'Running' },
}

async function stage(t: Test, { resource, kind, hasSubresource }: Kind) {
  const { group, version } = resource
  const names = ['one', 'two', 'last']
  const p = await pairIn(center, t, {
    namespacedObjects: [
      { group, resource: resource.resource, apiVersion: version, objectsByNamespace: [{ namespace: 'app', names }] },
    ],
  })
  const definition: KubeObject = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${resource.resource}.${group}` },
    spec: {
      group,
      names: { plural: resource.resource, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      scope: 'Namespaced',
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          ...(hasSubresource && { subresources: { status: {} } }),
          schema: { openAPIV3Schema: open },
        },
      ],
    },
  }
  for (const [space, id] of [
    [p.mailbox, p.mailboxId],
    [p.cluster, p.clusterId],
  ] as const) {
    await space.create(CRDS, definition)
    await world.present(id, `customresourcedefinitions.apiextensions.k8s.io ${definition.metadata.name}`, crd =>
      JSON.stringify(crd.status ?? {}).includes('"Established","status":"True"'),
    )
  }
  const ref = (name: string) => ({ namespace: 'app', name })
  const key = (name: string) => `${resource.resource}.${group} app/${name}`
  return {
    ...p,
    key,
    place: async (name: string) => {
      const metadata = { ...ref(name), labels: PROJECTED }
      await p.mailbox.create(resource, { apiVersion: `${group}/${version}`, kind, metadata, spec: { image: 'a:1' } })
      await world.present(p.clusterId, key(name))
      await p.settled()
    },
    says: async (name: string, status: object) => {
      const how = hasSubresource ? { subresource: 'status' } : {}
      await p.cluster.patch(resource, ref(name), 'merge', { status }, how)
      await world.present(p.mailboxId, key(name), it => JSON.stringify(it.status) === JSON.stringify(status))
      await p.settled()
    },
    removedByCluster: (name: string) => p.cluster.delete(resource, ref(name)),
    edit: (name: string, image: string) => p.mailbox.patch(resource, ref(name), 'merge', { spec: { image } }),
  }
}

for (const kind of [TASK_RUNS, WORKFLOWS]) {
  t.test(`a syncer that lost its state runs ${kind.kind}s whose spec was edited since, and no others`, async t => {
    const p = await stage(t, kind)
    const first = p.start()
    for (const name of ['one', 'two']) await p.place(name)
    for (const name of ['one', 'two']) await p.says(name, kind.done)
    await first.stop()
    for (const name of ['one', 'two']) await p.removedByCluster(name)
    await p.edit('two', 'a:2')

    p.start(undefined, undefined, { stateDir: temporaryDir(t) })
    await world.present(p.clusterId, p.key('two'), it => JSON.stringify(it.spec).includes('a:2'))
    await p.place('last')
    t.equal(world.get(p.clusterId, p.key('one')), undefined, 'what ended does not run again')
  })

  t.test(`a ${kind.kind} that goes on after its end is put back`, async t => {
    const p = await stage(t, kind)
    p.start()
    for (const name of ['one', 'two']) await p.place(name)
    for (const name of ['one', 'two']) await p.says(name, kind.done)
    await p.says('two', kind.goesOn)
    const { uid } = world.get(p.clusterId, p.key('two'))!.metadata
    for (const name of ['one', 'two']) await p.removedByCluster(name)
    await world.present(p.clusterId, p.key('two'), it => it.metadata.uid !== uid)
    await p.settled()
    t.equal(world.get(p.clusterId, p.key('one')), undefined)
  })
}

t.test('a status is about the spec that is there: by generation, and by times', async t => {
  const write = (manager: string, field: string, time: string, subresource?: string) => ({
    manager,
    operation: 'Update' as const,
    time: `2026-01-01T00:00:${time}Z`,
    fieldsV1: { [field]: {} },
    ...(subresource && { subresource }),
  })
  const wrote = (time: string) => write('placement-translator', 'f:spec', time)
  const reported = (time: string) => write('kubestellar-syncer', 'f:status', time, 'status')
  const inObject = (time: string) => write('kubestellar-syncer', 'f:status', time)
  const is = (generation: number, managedFields: ReturnType<typeof write>[], status: object = { phase: 'Succeeded' }) =>
    isOfThisSpec({ apiVersion: 'v1', kind: 'Run', metadata: { name: 'a', generation, managedFields }, status })
  t.equal(is(1, [wrote('01'), reported('01')]), true, 'never edited')
  t.equal(is(2, [wrote('05'), reported('01')]), false, 'edited since')
  t.equal(is(2, [wrote('01'), reported('01')]), false, 'in one second nobody knows')
  t.equal(is(2, [wrote('01'), reported('05')]), true)
  t.equal(is(2, [wrote('05'), reported('01')], { observedGeneration: 2 }), true, 'it says so')
  t.equal(is(3, [wrote('01'), reported('05')], { observedGeneration: 2 }), false)
  t.equal(is(2, [wrote('05'), inObject('01')], { observedGeneration: 2 }), false, 'of the cluster')
  t.equal(is(4, [wrote('01'), inObject('05')]), true)
  t.equal(is(4, []), false, 'nobody noted it')
})
