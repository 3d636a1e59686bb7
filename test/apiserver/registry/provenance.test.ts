/** Unset fields of an object: filled in by defaults, and neither changed nor named by any writer since. */
import t, { type Test } from 'tap'
import { pathsOf, showPath } from '../../../src/apimachinery/apply/fieldSet.ts'
import { defaultedFields } from '../../../src/apimachinery/defaultedFields.ts'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { apply } from '../../../src/apiserver/operations/apply.ts'
import { type PatchForm, patch } from '../../../src/apiserver/operations/patch.ts'
import { update } from '../../../src/apiserver/operations/update.ts'
import { BARE, type Part } from '../../../src/apiserver/registry/provenance.ts'
import {
  asking,
  configMap,
  deployment,
  type Heart,
  type HeartOptions,
  heart,
  refused,
  SPACE,
  widget,
  widgets,
} from './support.ts'

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'

const travelling = (part: Part | undefined, more: HeartOptions = {}): HeartOptions => ({
  ...more,
  deps: { ...more.deps, travel: { partOf: () => part } },
})

class Scene {
  readonly #heart: Heart
  readonly #kind: string

  constructor(heart: Heart, kind = 'apps/v1/deployments') {
    this.#heart = heart
    this.#kind = kind
  }

  get #target() {
    return { context: asking(), type: this.#heart.type(this.#kind), namespace: 'n', name: 'web', subresource: '' }
  }

  async create(object: KubeObject): Promise<void> {
    await this.#heart.registry.create(asking(), this.#target.type, 'n', object)
  }

  async patch(body: unknown, form: PatchForm = 'strategic', subresource = ''): Promise<void> {
    await patch(this.#heart.registry, { ...this.#target, subresource }, form, body)
  }

  async put(object: KubeObject): Promise<void> {
    await update(this.#heart.registry, this.#target, object, { again: () => object })
  }

  async apply(object: KubeObject): Promise<void> {
    await apply(this.#heart.registry, this.#target, object, { force: true })
  }

  async read(): Promise<KubeObject> {
    return (await this.#heart.stored(this.#target.type, 'n', 'web'))!
  }

  get revision(): number {
    return this.#heart.store.revision
  }

  async note(): Promise<string | undefined> {
    return (await this.#heart.store.get(this.#heart.keyOf(this.#target.type, 'n', 'web')))?.note
  }

  /** As the center's own controllers get them. */
  async unset(): Promise<string[] | undefined> {
    const { type } = this.#target
    const stored = (await this.#heart.store.get(this.#heart.keyOf(type, 'n', 'web')))!
    const object = await this.read()
    this.#heart.registry.provenance?.attach(type, stored, object)
    const set = defaultedFields(object)
    return set && [...pathsOf(set)].map(path => showPath(path))
  }

  async says(...paths: string[]): Promise<boolean> {
    const unset = await this.unset()
    return paths.every(path => !unset?.includes(path))
  }
}

const sceneOf = async (t: Test, options: HeartOptions = travelling('source')) => new Scene(await heart(t, options))
const REPLICAS = '.spec.replicas'

t.test('the data of a Secret is said, also where it was written as stringData', async t => {
  const secret = (stringData: Record<string, string>): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'web', namespace: 'n' },
    stringData,
  })
  const scene = new Scene(await heart(t, travelling('source')), 'v1/secrets')
  await scene.create(secret({ a: '1' }))
  t.match(await scene.read(), { data: { a: 'MQ==' } })
  t.same(await scene.unset(), ['.type'])
  await scene.patch({ stringData: { b: '2' } })
  t.same(await scene.unset(), ['.type'])
  await scene.put(secret({ c: '3' }))
  t.same(await scene.unset(), ['.type'])
})

t.test('what defaults fill in is known, and nothing of it shows', async t => {
  const scene = await sceneOf(t)
  await scene.create(deployment('web', { revisionHistoryLimit: 3 }))
  const unset = (await scene.unset())!
  for (const path of [REPLICAS, '.spec.strategy', '.spec.template.spec.containers[name="main"].imagePullPolicy'])
    t.ok(unset.includes(path), path)
  t.notOk(unset.some(path => path.startsWith('.metadata') || path.startsWith('.status')))
  t.notOk(unset.includes('.spec.revisionHistoryLimit'))
  t.notMatch(JSON.stringify(await scene.read()), /note/)
})

t.test('a kind without defaults is known to have none', async t => {
  const scene = new Scene(await heart(t, travelling('source')), 'v1/configmaps')
  await scene.create(configMap('web', { a: '1' }))
  t.same(await scene.unset(), [])
})

t.test('elsewhere nothing is kept', async t => {
  const scene = await sceneOf(t, travelling(undefined))
  await scene.create(deployment('web'))
  await scene.patch({ spec: { paused: true } })
  t.equal(await scene.note(), undefined)
})

t.test('whoever changes a field says it, and not what is beside it', async t => {
  const scene = await sceneOf(t)
  await scene.create(deployment('web'))
  await scene.patch({ spec: { strategy: { rollingUpdate: { maxSurge: 2 } } } })
  const unset = (await scene.unset())!
  t.notOk(unset.includes('.spec.strategy'))
  t.notOk(unset.includes('.spec.strategy.rollingUpdate'))
  t.ok(unset.includes('.spec.strategy.rollingUpdate.maxUnavailable'))
  await scene.patch({ spec: { strategy: null } })
  t.ok((await scene.unset())!.includes('.spec.strategy'), 'and takes it back by leaving it to defaults')
})

t.test('a patch that names a default says it, and is a change', async t => {
  const patches: [PatchForm, unknown][] = [
    ['merge', { spec: { replicas: 1 } }],
    ['strategic', { spec: { replicas: 1 } }],
    ['json', [{ op: 'replace', path: '/spec/replicas', value: 1 }]],
  ]
  for (const [form, body] of patches) {
    const scene = await sceneOf(t)
    await scene.create(deployment('web'))
    const { revision } = scene
    await scene.patch(body, form)
    t.ok(await scene.says(REPLICAS), form)
    t.notOk(await scene.says('.spec.strategy'))
    t.equal(scene.revision, revision + 1)
    await scene.patch(body, form)
    t.equal(scene.revision, revision + 1, 'once')
  }
})

t.test('who sends back what they read says what they changed; a manifest says all that is in it', async t => {
  const scene = await sceneOf(t)
  await scene.create(deployment('web'))
  const read = await scene.read()
  const { revision } = scene
  await scene.put(read)
  t.equal(scene.revision, revision, 'nothing is no change')
  await scene.put({ ...(await scene.read()), spec: { ...(read.spec as object), paused: true } })
  t.notOk(await scene.says(REPLICAS))
  await scene.put(deployment('web', { replicas: 1 }))
  t.ok(await scene.says(REPLICAS))
  await scene.put(deployment('web'))
  t.notOk(await scene.says(REPLICAS))
})

t.test('who applies says what is in the configuration, also where it is the default', async t => {
  const scene = await sceneOf(t)
  await scene.create(deployment('web'))
  await scene.apply(deployment('web', { replicas: 1 }))
  t.ok(await scene.says(REPLICAS))
  t.notOk(await scene.says('.spec.strategy'))
  const annotations = { [LAST_APPLIED]: JSON.stringify(deployment('web', { progressDeadlineSeconds: 600 })) }
  await scene.patch({ metadata: { annotations } }, 'merge')
  t.ok(await scene.says('.spec.progressDeadlineSeconds'), 'the annotation of client-side apply counts')
})

t.test('who names a struct with nothing in it says nothing of its fields', async t => {
  const bare = deployment('web', { strategy: {}, replicas: 1 })
  const inside = '.spec.strategy.rollingUpdate.maxSurge'
  for (const how of ['create', 'server', 'client'] as const) {
    const scene = await sceneOf(t)
    if (how === 'server') await scene.apply(structuredClone(bare))
    else {
      const annotations = how === 'client' ? { [LAST_APPLIED]: JSON.stringify(bare) } : {}
      await scene.create({ ...structuredClone(bare), metadata: { name: 'web', annotations } })
    }
    t.ok(await scene.says(REPLICAS), how)
    t.ok(
      (await scene.unset())!.some(path => inside.startsWith(path)),
      `${how}: ${inside}`,
    )
    await scene.patch({ spec: { strategy: { rollingUpdate: { maxSurge: 1 } } } })
    t.ok(await scene.says(inside), how)
  }
})

t.test('a status says nothing', async t => {
  const scene = await sceneOf(t)
  await scene.create(deployment('web'))
  const before = await scene.note()
  await scene.patch({ status: { replicas: 1 } }, 'merge', 'status')
  t.equal(await scene.note(), before)
})

t.test('of an object from before, appliers say what was said; without them all was', async t => {
  const options = travelling('source')
  const old = await heart(t)
  const stored = async (object: KubeObject): Promise<Scene> => {
    await old.registry.create(asking(), old.type('apps/v1/deployments'), 'n', object)
    const found = (await old.store.get(old.keyOf(old.type('apps/v1/deployments'), 'n', 'web')))!
    const now = await heart(t, options)
    const text = found.bytes.toString()
    const at = found.headBytes
    const mutation = {
      type: 'put',
      text: { head: text.slice(0, at), tail: text.slice(at + `${found.revision}`.length) },
    } as const
    await now.store.write({ key: found.key, mutation, expect: 0 })
    await old.store.update(found.key, () => ({ type: 'delete' }))
    return new Scene(now)
  }
  const nobody = await stored(deployment('web'))
  t.equal(await nobody.unset(), undefined)
  const annotations = { [LAST_APPLIED]: JSON.stringify(deployment('web', { replicas: 1 })) }
  const applied = await stored({
    ...deployment('web', { replicas: 1, revisionHistoryLimit: 7 }),
    metadata: { name: 'web', annotations },
  })
  const unset = (await applied.unset())!
  t.notOk(unset.includes(REPLICAS))
  t.notOk(unset.includes('.spec.revisionHistoryLimit'), 'what is no default somebody said')
  t.ok(unset.includes('.spec.progressDeadlineSeconds'))
  await applied.patch({ spec: { paused: true } })
  t.ok((await applied.unset())!.includes('.spec.progressDeadlineSeconds'), 'and so it is kept from then on')
})

t.test('a copy on its way is judged with its defaults, and stored as it was sent', async t => {
  const scene = await sceneOf(t, travelling('copy'))
  const sent = deployment('web')
  const spec = () => deployment('web').spec as object
  await scene.create(deployment('web'))
  t.same((await scene.read()).spec, sent.spec)
  t.equal(await scene.note(), BARE)
  await scene.patch({ status: { replicas: 1 } }, 'merge', 'status')
  t.match(await scene.read(), { spec: sent.spec, status: { replicas: 1 } })
  t.same((await scene.read()).spec, sent.spec)
  await scene.put({ ...(await scene.read()), spec: { ...spec(), replicas: 1 } })
  t.same((await scene.read()).spec, { ...(sent.spec as object), replicas: 1 }, 'what the center sends, it says')
  const { revision } = scene
  await scene.put(await scene.read())
  t.equal(scene.revision, revision)
  await t.rejects(scene.patch({ spec: { replicas: -1 } }), refused('Invalid'))
})

t.test('a definition that gains a default fills no copy in', async t => {
  const size = { spec: { type: 'object', properties: { size: { type: 'integer', default: 3 } } } }
  const definition = widgets({ v1: size }, { generation: 2 })
  const here = await heart(t, travelling('copy', { definitions: [definition] }))
  const type = here.type('example.com/v1/widgets')
  await here.registry.create(asking(), type, 'n', { ...widget('v1', 'web'), spec: {} })
  const { bytes } = await here.reader.get(SPACE, type, 'n', 'web')
  t.same(JSON.parse(bytes.toString()).spec, {})
})
