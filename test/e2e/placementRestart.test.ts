// kill -9 in the middle of propagation: after the restart everything converges, nothing is lost, nothing is left over.
import t from 'tap'
import { CenterProcess } from '../support/centerProcess.ts'
import { heldBy, MAPS, PLACEMENTS, type Scene } from '../support/scene.ts'

const COUNT = 'kubestellar.io/executing-count'
const NAMES = Array.from({ length: 150 }, (_, i) => `m${String(i).padStart(3, '0')}`)
const ALL = NAMES.map(name => `app/${name}`)

const center = new CenterProcess(t)
await center.start()

let scene: Scene
let mailboxes: string[] = []

/** Runs `act` and kills the server as soon as it `isAmid` that; then starts it again. */
async function killedAmid(isAmid: () => boolean, act: () => Promise<unknown>): Promise<void> {
  const amid = center.world.until('it to be amid that', () => !isAmid() && 'it is not')
  // its answer may be lost together with the server
  const acting = act().catch(() => undefined)
  await amid
  await center.kill()
  // first: what waits for the dead server's news waits no more
  await center.disconnect()
  await acting
  await center.start()
}

/** How many copies a mailbox has. */
const left = (mailbox: string): number => center.mapsIn(mailbox).length

/** Which objects of a space have no new content yet. */
const oldIn = (space: string): string[] => {
  const data = (name: string) => center.world.get(space, `configmaps app/${name}`)?.data as { v?: string } | undefined
  return NAMES.filter(name => data(name)?.v !== '2')
}

const counted = (count: string | undefined) =>
  center.world.until(`the counts to be ${count}`, () => {
    const off = NAMES.filter(
      name => center.world.get(scene.wdsId, `configmaps app/${name}`)?.metadata.annotations?.[COUNT] !== count,
    )
    return off.length > 0 && `${off.length} are not, as ${off[0]}`
  })

t.test('killed while copies are made', async t => {
  scene = await center.scene('crash', ['a', 'b'])
  mailboxes = [await scene.mailbox('a'), await scene.mailbox('b')]
  await Promise.all(NAMES.map(name => scene.map(name, { name })))
  await killedAmid(
    () => left(mailboxes[0]!) + left(mailboxes[1]!) >= 60,
    () => scene.place('ep', { wantSingletonReportedState: true }),
  )
  for (const mailbox of mailboxes) {
    await center.holds(mailbox, ALL)
    for (const name of NAMES) t.match(center.world.get(mailbox, `configmaps app/${name}`)?.data, { name })
  }
  t.same(mailboxes, [await scene.mailbox('a'), await scene.mailbox('b')], 'the mailboxes are the same as before')
  await counted('2')
})

t.test('killed while copies are brought up to date', async () => {
  const edit = () =>
    Promise.all(NAMES.map(name => scene.wds.patch(MAPS, { namespace: 'app', name }, 'merge', { data: { v: '2' } })))
  await killedAmid(() => mailboxes.some(mailbox => oldIn(mailbox).length <= NAMES.length - 30), edit)
  // requests that the dying server refused are repeated
  await edit()
  for (const mailbox of mailboxes)
    await center.world.until('new content', () => oldIn(mailbox).length > 0 && `${oldIn(mailbox).length} are old`)
})

t.test('killed while a placement moves', async t => {
  const [a = '', b = ''] = mailboxes
  const plan = (): string | undefined => {
    const placement = center.world.get(scene.wdsId, 'edgeplacements.edge.kubestellar.io ep')
    return placement && heldBy(placement)
  }
  await scene.replace('ep', scene.at('b'))
  // so many do not go unasked
  await killedAmid(
    () => left(a) <= NAMES.length - 30,
    () => scene.confirmHeld('ep'),
  )
  await center.holds(b, ALL)
  // The rest is another plan, or several after each other; or it is too little for a confirmation.
  for (let confirmed: string | undefined; left(a) > 0; ) {
    const isAsked = (): boolean => ![undefined, confirmed].includes(plan())
    await center.world.until('the rest to be held or gone', () => left(a) > 0 && !isAsked() && `${left(a)} are there`)
    if (left(a) > 0) confirmed = await scene.confirmHeld('ep', confirmed)
  }
  await center.holds(a, [])
  await center.holds(b, ALL)
  await counted('1')
  t.equal(center.mapsIn(scene.wdsId).length, NAMES.length)
})

t.test('killed while a deleted placement is cleaned up', async t => {
  const [, b = ''] = mailboxes
  await killedAmid(
    () => left(b) <= NAMES.length - 30,
    () => scene.wds.delete(PLACEMENTS, { name: 'ep' }),
  )
  await center.holds(b, [])
  await center.world.absent(scene.wdsId, 'singleplacementslices.edge.kubestellar.io ep')
  await counted(undefined)
  t.same(center.mapsIn(scene.wdsId), ALL, 'the workload is all there')
})

t.test('nobody complained', async t => {
  t.same(
    // the move exceeds the brake's bound, and that is reported; a key that was worked on alone at the kill is retried in a moment
    center.lines.filter(
      line => /"level":(40|50|60)|warn|error/i.test(line) && !line.includes('"held":') && !line.includes('"deaths":1,'),
    ),
    [],
  )
})
