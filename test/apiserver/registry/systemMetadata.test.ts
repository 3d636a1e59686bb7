/** Fields of the server, and the part of an object that each kind of write may change. */
import t, { type Test } from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { deleteObject } from '../../../src/apiserver/operations/remove.ts'
import type { UpdateOptions } from '../../../src/apiserver/registry/preparation.ts'
import type { Strategy } from '../../../src/kinds/strategy.ts'
import { asking, configMap, deployment, heart, NOW, objectOf, refused, widget, widgets } from './support.ts'

/** One object and its updates. */
async function one(t: Test, kind: string, object: KubeObject, more: Parameters<typeof heart>[1] = {}) {
  const here = await heart(t, more)
  const type = here.type(kind)
  const namespace = type.namespaced ? 'n' : ''
  const { name = '' } = object.metadata
  const context = asking()
  const made = objectOf(await here.registry.create(context, type, namespace, object))
  return {
    ...here,
    type,
    made,
    context,
    change: async (act: (current: KubeObject) => void, options: UpdateOptions = {}) => {
      const change = (current: KubeObject): KubeObject => {
        act(current)
        return current
      }
      return objectOf(await here.registry.update(context, type, namespace, name, change, options))
    },
  }
}

t.test('a new object gets what only the server can say, and loses what the client said of it', async t => {
  const claimed = {
    uid: 'mine',
    namespace: 'elsewhere',
    creationTimestamp: '2001-01-01T00:00:00Z',
    deletionTimestamp: '2001-01-01T00:00:00Z',
    deletionGracePeriodSeconds: 5,
    selfLink: '/x',
    generation: 7,
  }
  const sent = deployment('d')
  Object.assign(sent.metadata, claimed)
  const { made } = await one(t, 'apps/v1/deployments', sent)
  const { uid, creationTimestamp, generation, namespace, ...rest } = made.metadata
  t.strictSame([uid, creationTimestamp, generation, namespace], ['uid-1', NOW, 1, 'n'])
  t.strictSame(Object.keys(rest).sort(), ['managedFields', 'name', 'resourceVersion'])
  const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x', namespace: 'y' } }
  t.equal((await one(t, 'v1/namespaces', space)).made.metadata.namespace, undefined)
})

t.test('a status that is written stays behind the spec in the text of its object', async t => {
  const { change, made } = await one(t, 'apps/v1/deployments', deployment('d'))
  const order = Object.keys(made)
  const written = await change(object => Object.assign(object, { status: { replicas: 1 } }), { subresource: 'status' })
  t.same(written.status, { replicas: 1 })
  t.strictSame(Object.keys(written), order)
})

t.test('an update leaves them as they are', async t => {
  const { made, change, store } = await one(t, 'apps/v1/deployments', deployment('d'))
  await change(({ metadata }) => {
    Object.assign(metadata, { uid: undefined, creationTimestamp: '2001-01-01T00:00:00Z', generation: 7, selfLink: '/' })
  })
  t.equal(store.revision, 1, 'nothing is left to change')
  const { metadata } = await change(object => {
    object.metadata = { name: 'd', labels: { a: 'b' } }
  })
  const { uid, creationTimestamp, generation, namespace } = made.metadata
  t.match(metadata, { uid, creationTimestamp, generation, namespace, labels: { a: 'b' } })
})

t.test('what an update cannot change is refused by name', async t => {
  const { change, store } = await one(t, 'v1/configmaps', configMap('c', { a: '1' }))
  for (const [field, value] of [
    ['name', 'other'],
    ['namespace', 'other'],
    ['deletionTimestamp', NOW],
    ['deletionGracePeriodSeconds', 5],
  ] as const)
    await t.rejects(
      change(({ metadata }) => Object.assign(metadata, { [field]: value })),
      { reason: 'Invalid', message: RegExp(`metadata\\.${field}: Invalid value: .*field is immutable`) },
    )
  t.equal(store.revision, 1)
})

t.test('metadata that cannot be is refused by name', async t => {
  const here = await heart(t)
  const cases: [string, object, RegExp][] = [
    ['v1/configmaps', { name: 'Not_A_Name' }, /^ConfigMap "Not_A_Name" is invalid: metadata\.name: Invalid value/],
    ['v1/configmaps', { name: 'c', labels: { a: '!' } }, /metadata\.labels: Invalid value: "!"/],
    ['v1/configmaps', { name: 'c', annotations: { '!': 'a' } }, /metadata\.annotations: Invalid value: "!"/],
    ['v1/configmaps', { name: 'c', finalizers: ['unqualified'] }, /metadata\.finalizers\[0\]: Invalid value/],
    ['v1/services', { name: '1st' }, /metadata\.name: Invalid value: "1st": a DNS-1035 label/],
    ['v1/namespaces', { name: 'a.b' }, /metadata\.name: Invalid value: "a\.b"/],
  ]
  for (const [kind, metadata, message] of cases) {
    const type = here.type(kind)
    const object = { apiVersion: 'v1', kind: type.kind, metadata, ...(type.kind === 'Service' && { spec: {} }) }
    await t.rejects(here.registry.create(asking(), type, type.namespaced ? 'n' : '', object), {
      reason: 'Invalid',
      message,
    })
  }
  t.equal(here.store.revision, 0)
})

t.test('a name that is wrong today may stay', async t => {
  const strict: { rule: NonNullable<Strategy['nameRule']> } = { rule: 'pathSegment' }
  const strategyFor = (): Strategy => ({ nameRule: strict.rule })
  const { change } = await one(t, 'v1/configmaps', configMap('Old_Name', { a: '1' }), { deps: { strategyFor } })
  strict.rule = 'dns1123Label'
  t.match(
    await change(object => {
      object.data = { a: '2' }
    }),
    { data: { a: '2' } },
  )
})

t.test('generation', async t => {
  let labels = 0
  const relabel = ({ metadata }: KubeObject): void => {
    metadata.labels = { at: `${++labels}` }
  }
  const scale = ({ spec }: KubeObject): void => {
    Object.assign(spec as object, { replicas: 5 })
  }
  const report = (object: KubeObject): void => {
    object.status = { replicas: 5 }
  }

  await t.test('rises with the spec, not with metadata and status', async t => {
    const { made, change } = await one(t, 'apps/v1/deployments', deployment('d'))
    const generationAfter = async (...args: Parameters<typeof change>) => (await change(...args)).metadata.generation
    t.equal(made.metadata.generation, 1)
    t.equal(await generationAfter(relabel), 1)
    t.equal(await generationAfter(report, { subresource: 'status' }), 1)
    t.equal(await generationAfter(scale), 2)
    t.equal(await generationAfter(scale), 2, 'nothing was changed')
  })

  await t.test('rises with the metadata where the kind says so', async t => {
    const strategyFor = (): Strategy => ({ generationOnMetadata: true, statusKeeps: [] })
    const { change } = await one(t, 'apps/v1/deployments', deployment('d'), { deps: { strategyFor } })
    t.equal((await change(relabel)).metadata.generation, 2)
    t.equal((await change(relabel, { subresource: 'status' })).metadata.generation, 2, 'not through /status')
  })

  await t.test('is not there for kinds without', async t => {
    const { made, change } = await one(t, 'v1/configmaps', configMap('c', { a: '1' }))
    t.notOk('generation' in made.metadata)
    const now = await change(object => {
      object.data = { a: '2' }
    })
    t.notOk('generation' in now.metadata)
  })

  await t.test('rises with a deletion that has to wait', async t => {
    const held = deployment('d')
    held.metadata.finalizers = ['example.com/hold']
    const { registry, type } = await one(t, 'apps/v1/deployments', held)
    const { stored } = await deleteObject(registry.deps, asking(), type, { namespace: 'n', name: 'd' })
    t.equal(objectOf({ stored }).metadata.generation, 2)
  })
})

t.test('status and the rest', async t => {
  const both = (object: KubeObject): void => {
    Object.assign(object.spec as object, { replicas: 5 })
    object.status = { replicas: 7, observedGeneration: 1 }
    object.metadata.labels = { a: 'b' }
    object.metadata.finalizers = ['example.com/hold']
  }
  const schema = { spec: { type: 'object', properties: { replicas: { type: 'integer' } } }, status: { type: 'object' } }
  const preserved = { ...schema, status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  const custom = (subresources: object) => ({ definitions: [widgets({ v1: preserved }, { subresources })] })
  const spec = { replicas: 1 }

  await t.test(
    'a Deployment: each way changes its own part; of metadata /status leaves what the kind keeps from it',
    async t => {
      const { made, change } = await one(t, 'apps/v1/deployments', { ...deployment('d'), status: { replicas: 3 } })
      t.not((made.status as { replicas?: number } | undefined)?.replicas, 3, 'nobody is born with a status')
      const changed = await change(both)
      t.match(changed, { spec: { replicas: 5 }, metadata: { labels: { a: 'b' } } })
      t.strictSame(changed.status, made.status)
      const reported = await change(
        object => {
          Object.assign(object.spec as object, { replicas: 9 })
          object.status = { replicas: 7 }
          object.metadata.labels = { c: 'd' }
          object.metadata.annotations = { e: 'f' }
        },
        { subresource: 'status' },
      )
      t.match(reported, { spec: { replicas: 5 }, status: { replicas: 7 }, metadata: { annotations: { e: 'f' } } })
      t.strictSame(reported.metadata.labels, { a: 'b' })
    },
  )

  await t.test('a custom resource with /status: it changes the status alone', async t => {
    const object = widget('v1', 'w', { spec, status: { phase: 'born' } })
    const { made, change, store } = await one(t, 'example.com/v1/widgets', object, custom({ status: {} }))
    t.notOk('status' in made)
    const changed = await change(both)
    t.notOk('status' in changed)
    const { revision } = store
    const reported = await change(
      object => {
        both(object)
        Object.assign(object.spec as object, { replicas: 9 })
        object.metadata.labels = { c: 'd' }
        object.other = 'x'
      },
      { subresource: 'status' },
    )
    t.match(reported, { spec: { replicas: 5 }, status: { replicas: 7 }, metadata: { labels: { a: 'b' } } })
    t.equal(reported.metadata.generation, changed.metadata.generation)
    t.equal(store.revision, revision + 1)
    const silent = await change(
      object => {
        delete object.status
      },
      { subresource: 'status' },
    )
    t.notOk('status' in silent)
  })

  await t.test('a custom resource without: the status is a field as any other', async t => {
    const object = widget('v1', 'w', { spec, status: { phase: 'born' } })
    const { made, change } = await one(t, 'example.com/v1/widgets', object, custom({}))
    t.strictSame(made.status, { phase: 'born' })
    t.match(await change(both), { status: { replicas: 7 }, spec: { replicas: 5 } })
  })

  await t.test('what is judged is what the way may change', async t => {
    const rules: string[] = []
    const strategyFor = (): Strategy => ({
      validate: () => [void rules.push('validate')].flatMap(() => []),
      validateUpdate: () => [void rules.push('validateUpdate')].flatMap(() => []),
      validateStatusUpdate: () => [void rules.push('validateStatusUpdate')].flatMap(() => []),
    })
    const { change } = await one(t, 'apps/v1/deployments', deployment('d'), { deps: { strategyFor } })
    await change(both, { subresource: 'status' })
    await change(both)
    t.strictSame(rules, ['validate', 'validateStatusUpdate', 'validate', 'validateUpdate'])
  })
})

t.test('kinds that want a version get one', async t => {
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' }, spec: {} }
  const { change, made } = await one(t, 'coordination.k8s.io/v1/leases', structuredClone(lease))
  const put = (resourceVersion?: string) =>
    change(object => {
      object.spec = { holderIdentity: 'me' }
      if (resourceVersion === undefined) delete object.metadata.resourceVersion
      else object.metadata.resourceVersion = resourceVersion
    })
  await t.rejects(put(), {
    reason: 'Invalid',
    message: /metadata\.resourceVersion: Invalid value: 0: must be specified for an update/,
  })
  await t.rejects(put('0'), refused('Invalid'))
  await put(made.metadata.resourceVersion)
})

t.test('what is valid and unwise is warned of, when it is written', async t => {
  const strategyFor = (): Strategy => ({ warnings: ({ metadata }) => [`${metadata.name} is unwise`] })
  const { context, change } = await one(t, 'apps/v1/deployments', deployment('d'), { deps: { strategyFor } })
  t.strictSame(context.warnings.splice(0), ['d is unwise'])
  await change(({ metadata }) => Object.assign(metadata, { labels: { a: 'b' } }))
  t.strictSame(context.warnings.splice(0), ['d is unwise'])
  await change(object => Object.assign(object, { status: { replicas: 1 } }), { subresource: 'status' })
  t.strictSame(context.warnings, [])
})
