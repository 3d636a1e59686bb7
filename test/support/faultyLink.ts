/** A way to a server on which connections break where a test says so. The bytes are not looked at: they are encrypted. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Test } from 'tap'
import type { FaultPoints } from './faultPoints.ts'

/** The URL of the link's near end. Each piece that the server sends passes `watch write broken` and `answer lost`. */
export async function faultyLink(t: Test, serverUrl: string, points: FaultPoints): Promise<string> {
  const { hostname, port } = new URL(serverUrl)
  const open = new Set<Socket>()
  const link = createServer(near => {
    const far = connect({ host: hostname, port: Number(port) })
    const cut = (): void => {
      near.destroy()
      far.destroy()
    }
    for (const end of [near, far]) {
      open.add(end)
      end.on('error', cut)
      end.on('close', () => {
        open.delete(end)
        cut()
      })
    }
    near.pipe(far)
    far.on('data', (piece: Buffer) => {
      if (points.strikes('answer lost')) cut()
      else if (points.strikes('watch write broken')) near.write(piece.subarray(0, piece.length >> 1), cut)
      else near.write(piece)
    })
  })
  await new Promise<void>(resolve => link.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    for (const end of open) end.destroy()
    return new Promise(resolve => link.close(resolve))
  })
  return `https://127.0.0.1:${(link.address() as AddressInfo).port}`
}
