/** The disk of a server is watched also while nobody writes, and more of it than there is cannot be kept free. */
import t from 'tap'
import { serverRooms } from '../../../src/apiserver/shortage/serverRooms.ts'

const MIB = 1024 ** 2

function disk(freeMib: number) {
  const lines: string[] = []
  const tell = (_: unknown, text: string): void => void lines.push(text)
  const figures = { freeBytes: freeMib * MIB, sizeBytes: 1000 * MIB }
  let watch = (): void => {}
  let watching = true
  return {
    lines,
    figures,
    look: () => watch(),
    watching: () => watching,
    options: (diskReserveMib?: number) => ({
      dataDir: '/data',
      diskReserveBytes: diskReserveMib === undefined ? undefined : diskReserveMib * MIB,
      log: { info: tell, warn: tell, error: tell },
      lookAtDisk: async () => ({ ...figures }),
      every(_periodMs: number, run: () => void) {
        watch = run
        return () => {
          watching = false
        }
      },
    }),
  }
}

t.test('a disk that others fill is told, though nobody asks', async t => {
  const { lines, figures, look, watching, options } = disk(900)
  const rooms = await serverRooms(options(100))
  figures.freeBytes = 10 * MIB
  look()
  await new Promise(resolve => setImmediate(resolve))
  t.match(lines, [/the disk is short/])
  figures.freeBytes = 900 * MIB
  look()
  await new Promise(resolve => setImmediate(resolve))
  t.match(lines, [/the disk is short/, /has room again/])
  t.equal(watching(), true)
  rooms.stop()
  t.equal(watching(), false)
})

t.test('a reserve that is larger than the disk is refused, by name of the flag', async t => {
  const message =
    /^--disk-reserve-mib 1000: the disk of \/data has 1000 MiB in all, .*; give less, or 0 for no reserve$/
  await t.rejects(serverRooms(disk(900).options(1000)), { message })
  const rooms = await serverRooms(disk(900).options(999))
  rooms.stop()
})
