/** The informer of the package has one name of three clusters thrice, and follows each. */
import t from 'tap'
import type { ReportedChange, ReportedInformerOptions, ReportedObject } from '../../../src/client/reported/api.ts'
import { reportedInformer } from '../../../src/client/reported/reportedInformer.ts'
import { configMap, startCenter } from '../../support/center.ts'
import { MAPS } from '../../support/scene.ts'

interface ConfigMap extends ReportedObject {
  readonly data?: Readonly<Record<string, string>>
}

const CITIES = ['oslo', 'paris', 'rome']
const PAGE = { namespace: 'app', name: 'page' }
const center = await startCenter(t)
const { client, world } = center
const scene = await center.scene('a', CITIES)
const ofA = client.in(scene.wdsId)
await scene.place('p', {
  downsync: [{ apiGroup: '', resources: ['configmaps'], namespaces: ['app'], objectNames: ['*'] }],
})
await ofA.create(MAPS, configMap('page', { x: '1' }))
for (const city of CITIES) await world.present(await scene.mailbox(city), 'configmaps app/page')
await center.settled()

const KIND = { kubeconfig: center.server.kubeconfigPath, context: 'base', group: '', version: 'v1' }

async function started(options: Partial<ReportedInformerOptions>) {
  const informer = await reportedInformer<ConfigMap>({ ...KIND, resource: 'configmaps', namespace: 'app', ...options })
  const seen: ReportedChange<ConfigMap>[] = []
  let wake = (): void => {}
  informer.subscribe(change => {
    seen.push(change)
    wake()
  })
  const ended = new AbortController()
  const run = informer.run(ended.signal)
  t.teardown(() => {
    ended.abort()
    return run
  })
  await informer.synced
  return {
    informer,
    /** The next changes, in the order of their locations. */
    async next(count: number): Promise<string[]> {
      while (seen.length < count)
        await new Promise<void>(resolve => {
          wake = resolve
        })
      return seen
        .splice(0, count)
        .map(
          ({ type, location, previous, object }) => `${type} ${location} ${previous?.data?.x ?? ''}${object.data?.x}`,
        )
        .sort()
    },
  }
}

const thrice = (text: (location: string) => string): string[] => CITIES.map(city => text(`imw.${city}`))

t.test('one name in three clusters is seen, updated and deleted thrice', async t => {
  const { informer, next } = await started({ space: 'root:a-wmw' })
  t.same(
    await next(3),
    thrice(at => `added ${at} 1`),
  )
  t.same(
    informer
      .list()
      .map(({ location }) => location)
      .sort(),
    thrice(at => at),
  )
  for (const location of thrice(at => at)) t.equal(informer.get({ ...PAGE, location })?.data?.x, '1', location)
  await ofA.patch(MAPS, PAGE, 'merge', { data: { x: '2' } })
  t.same(
    await next(3),
    thrice(at => `updated ${at} 12`),
  )
  await scene.replace('p', scene.at('oslo', 'paris'))
  t.same(await next(1), ['deleted imw.rome 2'], 'one location leaves, the others keep it')
  t.same(
    informer
      .list()
      .map(({ location }) => location)
      .sort(),
    ['imw.oslo', 'imw.paris'],
  )
  t.equal(informer.get({ ...PAGE, location: 'imw.rome' }), undefined)
  await scene.replace('p', scene.everywhere())
  t.same(await next(1), ['added imw.rome 2'])
  await ofA.delete(MAPS, PAGE)
  t.same(
    await next(3),
    thrice(at => `deleted ${at} 2`),
  )
  t.same(informer.list(), [])
})

t.test('spaces that are read together are told apart', async t => {
  await ofA.create(MAPS, configMap('page', { x: '3' }))
  const b = await center.scene('b', ['oslo'])
  await b.place('p', {
    downsync: [{ apiGroup: '', resources: ['configmaps'], namespaces: ['app'], objectNames: ['*'] }],
  })
  await client.in(b.wdsId).create(MAPS, configMap('page', { x: 'of b' }))
  await world.present(await b.mailbox('oslo'), 'configmaps app/page')
  for (const city of CITIES) await world.present(await scene.mailbox(city), 'configmaps app/page')
  const { informer } = await started({ space: '*', fieldSelector: 'metadata.name=page' })
  t.equal(informer.list().length, 4)
  const dataIn = (space: string, location: string) => informer.get({ ...PAGE, space, location })?.data?.x
  t.same([dataIn(scene.wdsId, 'imw.oslo'), dataIn(b.wdsId, 'imw.oslo')], ['3', 'of b'])
})

t.test('a context without a space, or without a file, is refused at once', async t => {
  await t.rejects(started({}), /context base of .* names no space: set "space"/)
  await t.rejects(started({ kubeconfig: '/nowhere', space: 'x' }), /nowhere/)
  const server = 'https://center:6443/services/reported/clusters/root:a-wmw/locations/imw.rome'
  const named = { clusters: [{ name: 'c', cluster: { server } }], users: [{ name: 'u', user: { token: 't' } }] }
  const contexts = [{ name: 'one', context: { cluster: 'c', user: 'u' } }]
  const folder = t.testdir({ one: JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...named, contexts }) })
  const one = { kubeconfig: `${folder}/one`, context: 'one', space: 'root:a-wmw' }
  await t.rejects(started(one), /is the view of one location/, 'below it is no other view')
})
