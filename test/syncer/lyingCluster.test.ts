/** A cluster whose answers are wrong: nothing is deleted for them on either side. Once they are right again all is as it should be. */
import t, { type Test } from 'tap'
import { statusError } from '../../src/apimachinery/errors.ts'
import type { GroupResource, KubeObject } from '../../src/apimachinery/object.ts'
import type { ObjectList, SpaceClient } from '../../src/client/client.ts'
import { UPSYNCED } from '../../src/placement/words/placement.ts'
import { startCenter } from '../support/center.ts'
import { CONFIGS, configMap, MAPS, NAMESPACES, namespace } from './support/kinds.ts'
import { type Pair, pairIn, sent } from './support/pair.ts'

const center = await startCenter(t, { expectsTrouble: true })

/** Says what is true but for what the test has it say otherwise. */
class Liar {
  /** Rest of the items of its lists. */
  keeps: (object: KubeObject) => boolean = () => true
  /** Whether its discovery names a resource. */
  names: (resource: GroupResource) => boolean = () => true
  /** Answer for a requested object. */
  shows: (object: KubeObject) => KubeObject = object => object
  /** Whether its watches tell anything. */
  tells = true
  #again = Promise.withResolvers<void>()
  /** Lists that were answered, of anything. */
  lists = 0

  /** All versions that it gave are too old now. */
  forget(): void {
    this.#again.resolve()
    this.#again = Promise.withResolvers<void>()
  }

  over(client: SpaceClient): SpaceClient {
    return {
      ...client,
      get: async (...args) => this.shows(await client.get(...args)),
      list: async (...args): Promise<ObjectList> => {
        const answer = await client.list(...args)
        this.lists++
        return { ...answer, items: answer.items.filter(object => this.keeps(object)) }
      },
      watch: (...args) => this.#watch(client.watch(...args)),
      discover: async () => (await client.discover()).filter(resource => this.names(resource)),
    }
  }

  async *#watch<T>(source: AsyncIterable<T>): AsyncGenerator<T, void, void> {
    const again = this.#again.promise.then(() => 'again' as const)
    const items = source[Symbol.asyncIterator]()
    try {
      for (;;) {
        const next = await Promise.race([items.next(), again])
        if (next === 'again') throw statusError.expired('the version is too old')
        if (next.done) return
        if (this.tells) yield next.value
      }
    } finally {
      void items.return?.()
    }
  }
}

async function scene(t: Test, spec?: object): Promise<{ p: Pair; liar: Liar }> {
  const p = await pairIn(center, t, spec)
  const liar = new Liar()
  return { p, liar }
}
const start = ({ p, liar }: { p: Pair; liar: Liar }) =>
  p.start(undefined, undefined, { cluster: p.toCluster.cluster(liar.over(p.cluster)) })

/** Resolves when all that is watched was listed anew, and what came of it was looked at. */
async function listedAnew({ p, liar }: { p: Pair; liar: Liar }, atLeast: number): Promise<void> {
  const before = liar.lists
  liar.forget()
  while (liar.lists < before + atLeast) await new Promise(resolve => setTimeout(resolve, 1))
  await p.settled()
}

const goneFrom = (space: string, key: string): Promise<void> =>
  center.world.until(`the end of ${key}`, () => center.world.get(space, key) && `${key} is there`)

const UPSYNC = { upsync: [{ apiGroup: '', resources: ['configmaps'], namespaces: ['orbital'], names: ['*'] }] }
const born = (name: string, value: string): KubeObject => configMap(name, { value }, { namespace: 'orbital' })

for (const [what, lie] of [
  ['an empty list', (liar: Liar) => Object.assign(liar, { keeps: () => false })],
  ['a list that lacks one', (liar: Liar) => Object.assign(liar, { keeps: (o: KubeObject) => o.metadata.name !== 'b' })],
] as const)
  t.test(`${what} takes nothing from the mailbox that the cluster still has`, async t => {
    const s = await scene(t, UPSYNC)
    const { p, liar } = s
    await p.cluster.create(NAMESPACES, namespace('orbital'))
    for (const name of ['a', 'b']) await p.cluster.create(MAPS, born(name, '1'))
    start(s)
    for (const name of ['a', 'b']) await center.world.present(p.mailboxId, `configmaps orbital/${name}`)
    const gone: string[] = []
    lie(liar)
    await listedAnew(s, 2)
    // whatever is going to come of the lie has come when this one, behind it, is carried
    await p.cluster.create(MAPS, born('c', '1'))
    await center.world.present(p.mailboxId, 'configmaps orbital/c')
    for (const name of ['a', 'b']) {
      const held = center.world.get(p.mailboxId, `configmaps orbital/${name}`)
      if (held?.metadata.annotations?.[UPSYNCED] === undefined) gone.push(name)
    }
    t.same(gone, [])
    await p.cluster.delete(MAPS, { namespace: 'orbital', name: 'b' })
    await goneFrom(p.mailboxId, 'configmaps orbital/b')
    liar.keeps = () => true
    await p.cluster.patch(MAPS, { namespace: 'orbital', name: 'a' }, 'merge', { data: { value: '2' } })
    await center.world.present(
      p.mailboxId,
      'configmaps orbital/a',
      ({ data }) => JSON.stringify(data) === '{"value":"2"}',
    )
  })

t.test('a discovery that names nothing takes nothing from the mailbox', async t => {
  const s = await scene(t, UPSYNC)
  const { p, liar } = s
  await p.cluster.create(NAMESPACES, namespace('orbital'))
  await p.cluster.create(MAPS, born('a', '1'))
  start(s)
  await center.world.present(p.mailboxId, 'configmaps orbital/a')
  liar.names = () => false
  // it asks anew what is served when a kind is missing
  await p.mailbox.create(MAPS, sent('a'))
  await p.mailbox.patch(CONFIGS, { name: 'the-one' }, 'merge', {
    spec: {
      namespacedObjects: [
        {
          group: '',
          resource: 'configmaps',
          apiVersion: 'v1',
          objectsByNamespace: [{ namespace: 'app', names: ['a'] }],
        },
      ],
    },
  })
  await listedAnew(s, 1)
  await p.settled()
  t.ok(center.world.get(p.mailboxId, 'configmaps orbital/a'))
  liar.names = () => true
  await center.world.present(p.clusterId, 'configmaps app/a')
  t.ok(center.world.get(p.mailboxId, 'configmaps orbital/a'))
})

t.test('empty lists and another object in the answer delete nothing from the cluster', async t => {
  const s = await scene(t)
  const { p, liar } = s
  await p.mailbox.create(MAPS, sent('a', { x: '1' }))
  await p.mailbox.create(MAPS, sent('b', { x: '1' }))
  start(s)
  await center.world.present(p.clusterId, 'configmaps app/b')
  const { uid } = (await center.world.present(p.clusterId, 'configmaps app/a')).metadata
  liar.keeps = () => false
  await listedAnew(s, 2)
  await p.mailbox.patch(MAPS, { namespace: 'app', name: 'a' }, 'merge', { data: { x: '2' } })
  await center.world.present(p.clusterId, 'configmaps app/a', ({ data }) => JSON.stringify(data) === '{"x":"2"}')
  t.equal(center.world.get(p.clusterId, 'configmaps app/a')?.metadata.uid, uid, 'it is the same object')
  // b is requested, and a is the answer, which bears our mark
  const a = await p.cluster.get(MAPS, { namespace: 'app', name: 'a' })
  liar.shows = object => (object.metadata.name === 'b' ? a : object)
  await p.mailbox.delete(MAPS, { namespace: 'app', name: 'b' })
  await p.mailbox.patch(MAPS, { namespace: 'app', name: 'a' }, 'merge', { data: { x: '3' } })
  await center.world.present(p.clusterId, 'configmaps app/a', ({ data }) => JSON.stringify(data) === '{"x":"3"}')
  t.equal(center.world.get(p.clusterId, 'configmaps app/a')?.metadata.uid, uid, 'nobody deleted it')
  liar.shows = object => object
  liar.keeps = () => true
  await goneFrom(p.clusterId, 'configmaps app/b')
})

t.test('watches that tell nothing keep nothing from coming and going', async t => {
  const s = await scene(t)
  const { p, liar } = s
  liar.tells = false
  start(s)
  await p.mailbox.create(MAPS, sent('a', { x: '1' }))
  await center.world.present(p.clusterId, 'configmaps app/a')
  await p.mailbox.patch(MAPS, { namespace: 'app', name: 'a' }, 'merge', { data: { x: '2' } })
  await center.world.present(p.clusterId, 'configmaps app/a', ({ data }) => JSON.stringify(data) === '{"x":"2"}')
  await p.mailbox.delete(MAPS, { namespace: 'app', name: 'a' })
  await goneFrom(p.clusterId, 'configmaps app/a')
})
