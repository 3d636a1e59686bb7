// A thousand objects to ten clusters: all of it arrives, exactly, and without a word of trouble.
import t from 'tap'
import { startCenter } from '../support/center.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { PLACEMENTS } from '../support/scene.ts'

const OBJECTS = 1000
const CLUSTERS = Array.from({ length: 10 }, (_, i) => `c${i}`)

const center = await startCenter(t)
const { world } = center

t.test('1,000 ConfigMaps to 10 mailboxes, and away again', { timeout: FILE_LIMIT_MS }, async t => {
  const scene = await center.scene('big', CLUSTERS)
  const mailboxes = await Promise.all(CLUSTERS.map(name => scene.mailbox(name)))
  const names = Array.from({ length: OBJECTS }, (_, i) => `m${String(i).padStart(4, '0')}`)
  await Promise.all(names.map(name => scene.map(name, { name, text: 'x'.repeat(200) })))
  const keys = names.map(name => `app/${name}`)
  const heapBefore = process.memoryUsage().heapUsed
  let copies = 0
  const end = world.onChange(({ type, space, key }) => {
    if (key.startsWith('configmaps app/m') && mailboxes.includes(space))
      copies += type === 'DELETED' ? -1 : type === 'ADDED' ? 1 : 0
  })
  const startedMs = performance.now()
  await scene.place('ep')
  await world.until('all copies', () => copies !== OBJECTS * CLUSTERS.length && `${copies} so far`)
  const arrivedMs = performance.now()
  for (const mailbox of mailboxes) {
    t.same(center.mapsIn(mailbox), keys)
    t.same(
      names.filter(
        name => (world.get(mailbox, `configmaps app/${name}`)?.data as { name?: string } | undefined)?.name !== name,
      ),
      [],
      'each copy has its own content',
    )
  }
  const before = await center.settled()
  t.equal(await center.settled(), before)
  const heap = process.memoryUsage().heapUsed
  t.comment(`${OBJECTS * CLUSTERS.length} copies in ${Math.round(arrivedMs - startedMs)} ms`)
  t.comment(`heap ${mib(heapBefore)} before, ${mib(heap)} after (the test's own picture of the world included)`)
  const emptyingMs = performance.now()
  await scene.wds.delete(PLACEMENTS, { name: 'ep' })
  await world.until('no copies', () => copies !== 0 && `${copies} left`)
  t.comment(`gone in ${Math.round(performance.now() - emptyingMs)} ms`)
  end()
})

const mib = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MiB`
