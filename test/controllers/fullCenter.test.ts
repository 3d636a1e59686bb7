/** A center beyond its limit takes nothing new, and goes on with what it has. Edits travel, and what went is made anew. */
import t from 'tap'
import { GRANTED_LOCATIONS, SLICES } from '../../src/placement/words/placement.ts'
import { configMap, MAPS, MAPS_OF_APP, type Scene, startCenter } from '../support/center.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { temporaryDir } from '../support/temporaryDir.ts'

const [ALL_OF_APP] = MAPS_OF_APP.downsync
const named = (...objectNames: string[]) => ({ downsync: [{ ...ALL_OF_APP, objectNames }] })

t.setTimeout(FILE_LIMIT_MS)

t.test('a center begins with room, and is full when it starts again', { timeout: FILE_LIMIT_MS }, async t => {
  const dataDir = temporaryDir(t)
  let scene: Scene
  let mailboxes: string[] = []
  await t.test('with room', async t => {
    const center = await startCenter(t, { dataDir })
    scene = await center.scene('one', ['a', 'b'])
    for (const name of ['plain', 'staged']) await scene.map(name, { v: '1' })
    await scene.place('plain', named('plain'))
    await scene.place('staged', {
      ...named('staged'),
      rolloutStrategy: { type: 'Progressive', progressive: { maxConcurrency: 1 } },
    })
    await center.settled()
    mailboxes = await Promise.all(['a', 'b'].map(name => scene.mailbox(name)))
    for (const mailbox of mailboxes) t.strictSame(center.mapsIn(mailbox), ['app/plain'])
    t.strictSame(center.world.names(scene.wdsId, 'placementrevisions.edge.kubestellar.io'), ['staged.1'])
  })
  await t.test('full', async t => {
    const center = await startCenter(t, { dataDir, serverLimit: { objects: 1, spaces: 1 }, expectsTrouble: true })
    const wds = center.client.in(scene.wdsId)
    const [first = '', second = ''] = mailboxes
    await t.rejects(wds.create(MAPS, configMap('more')), /the server holds as many objects as it may/)
    const edit = async (name: string): Promise<void> => {
      await wds.patch(MAPS, { namespace: 'app', name }, 'merge', { data: { v: '2' } })
    }
    await edit('plain')
    await edit('staged')
    await wds.delete(SLICES, { name: 'plain' })
    await wds.delete(GRANTED_LOCATIONS, { name: 'imw.a' })
    await center.client.in(first).delete(MAPS, { namespace: 'app', name: 'plain' })
    await center.settled()
    for (const mailbox of [first, second])
      t.strictSame(center.world.get(mailbox, 'configmaps app/plain')?.data, { v: '2' })
    const names = (resource: string) => center.world.names(scene.wdsId, `${resource}.edge.kubestellar.io`)
    t.strictSame(names('singleplacementslices'), ['plain', 'staged'])
    t.strictSame(names('grantedlocations'), ['imw.a', 'imw.b'])
    t.strictSame(names('placementrevisions'), ['staged.1', 'staged.2'])
    t.strictSame(names('placementrollouts'), ['staged.1', 'staged.2'])
    t.match(center.trouble, [
      /^the server holds four fifths of the objects/,
      /^the server holds four fifths of the spaces/,
    ])
    t.equal(center.trouble.length, 2, 'no controller is refused')
  })
})
