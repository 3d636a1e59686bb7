/** Syncers of other releases at this center: the newest common protocol is used; without one they are refused, and that is reported. */
import { join } from 'node:path'
import t from 'tap'
import { objects } from '../../src/apimachinery/fields.ts'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { Api } from '../support/api.ts'
import { accessOf, temporaryDir } from '../support/server.ts'
import { at, Center, map, register, there } from '../syncer/support/installation.ts'
import { MAPS, TARGETS } from '../syncer/support/kinds.ts'
import { until } from '../syncer/support/processes.ts'

const dir = temporaryDir(t)
const center = new Center(t, join(dir, 'center'))
await center.start()
const mailbox = await register(center)
const [wds, mail, inventory] = [center.in('root:wmw1'), center.in(mailbox), center.in('root:imw1')]
await wds.create(MAPS, map('page', { x: '1' }))
await until(mail, MAPS, at('page'), there)
const kubeconfig = join(dir, 'syncer.kubeconfig')
await center.syncerKubeconfig(kubeconfig, mailbox)
const all = new Api(accessOf(kubeconfig))
t.teardown(() => all.close())
const STREAM = `/services/stream/clusters/${mailbox}`

const condition =
  (type: string, reason: string) =>
  (target: KubeObject | undefined): boolean =>
    objects(target?.status, 'conditions').some(each => each.type === type && each.reason === reason)

t.test('one of today is told which protocol is spoken, with its cursor too', async t => {
  const stream = await all.watch(`${STREAM}?protocol=2-3&brief=true`)
  t.match(await stream.next(), { type: 'BOOKMARK', revision: 0, protocol: 2 }, 'before anything else')
  const bookmark = (await stream.until(({ type }) => type === 'BOOKMARK')).at(-1)!
  t.match(bookmark, { synced: true, protocol: 2 })
  await until(inventory, TARGETS, { name: 'florin' }, condition('SyncerSupported', 'Supported'))
  stream.close()
  const resumed = await all.watch(`${STREAM}?protocol=2-9&resourceVersion=${bookmark.revision}`)
  t.match(await resumed.next(), { type: 'BOOKMARK', protocol: 2 }, 'a later release speaks what is known here')
  resumed.close()
})

const message = (way: string, spoken: string, remedy: string): string =>
  `this syncer is too ${way} for its center: it speaks ${spoken}, the center protocol 2; ${remedy}. The cluster keeps what it holds`

for (const [what, query, said] of [
  [
    'one of an earlier release, which names no protocol,',
    '',
    message('old', 'protocol 1', 'install a newer release of the syncer'),
  ],
  [
    'one of a later release',
    '?protocol=7-9',
    message('new', 'protocols 7 to 9', 'upgrade the center, or install an older release of the syncer'),
  ],
] as const)
  t.test(`${what} is turned away, and both sides read what to do`, async t => {
    const stream = await all.watch(`${STREAM}${query}`)
    const [line, ...more] = await stream.rest()
    t.match(line, { type: 'ERROR', object: { kind: 'Status', code: 406, reason: 'NotAcceptable', message: said } })
    t.same(more, [], 'it is given nothing')
    const target = await until(inventory, TARGETS, { name: 'florin' }, object =>
      objects(object?.status, 'conditions').some(each => each.type === 'SyncerSupported' && each.message === said),
    )
    t.match(
      objects(target?.status, 'conditions').find(({ type }) => type === 'SyncerSupported'),
      { status: 'False', reason: 'SyncerUnsupported' },
    )
    t.ok(condition('Ready', 'SyncerUnsupported')(target))
  })

t.test('a range that cannot be read is refused', async t => {
  t.match(await all.get(`${STREAM}?protocol=new`), {
    code: 400,
    body: {
      reason: 'BadRequest',
      message: 'protocol: "new" must be two numbers, the oldest and the newest, such as 2-3',
    },
  })
})
