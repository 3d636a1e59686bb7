/** Connections on which requests are sent as text. */
import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import type { Test } from 'tap'
import type { Api } from '../../support/api.ts'
import { ALICE } from '../../support/server.ts'

export const ACCESS = { verbs: ['access'], nonResourceURLs: ['/'] }

const END = '\r\n\r\n'
export const AS_ALICE = `Authorization: Bearer ${ALICE}\r\n`

/** One request at a time, and its answer as it came. */
export class Line {
  readonly socket: TLSSocket
  #heard = ''

  constructor(socket: TLSSocket) {
    this.socket = socket
    socket.setEncoding('latin1')
    socket.on('data', (part: string) => {
      this.#heard += part
    })
    socket.on('error', () => {})
  }

  async get(path: string, headers = ''): Promise<string> {
    this.socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`)
    return await this.answer()
  }

  async send(method: string, path: string, body: string, headers = ''): Promise<string> {
    const length = `Content-Length: ${Buffer.byteLength(body)}\r\n`
    this.socket.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\n${headers}${length}\r\n${body}`)
    return await this.answer()
  }

  async answer(): Promise<string> {
    for (;;) {
      const end = this.#heard.indexOf(END)
      const interim = this.#heard.startsWith('HTTP/1.1 1') ? 0 : undefined
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(this.#heard.slice(0, end + 2))?.[1] ?? interim)
      const whole = end + END.length + length
      if (end >= 0 && this.#heard.length >= whole) {
        const answer = this.#heard.slice(0, whole)
        this.#heard = this.#heard.slice(whole)
        return answer
      }
      await once(this.socket, 'data')
    }
  }
}

export async function lineTo(t: Test, { access: { url, cert, key } }: Api, asAdmin = true): Promise<Line> {
  const { hostname, port } = new URL(url)
  const socket = connect({
    host: hostname,
    port: Number(port),
    rejectUnauthorized: false,
    ...(asAdmin && cert && { cert }),
    ...(asAdmin && key && { key }),
  })
  t.teardown(() => socket.destroy())
  await once(socket, 'secureConnect')
  return new Line(socket)
}

export const codeOf = (answer: string): number => Number(answer.slice(9, 12))

const USER = { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'alice' }

export async function grant(api: Api, name: string, rules: object[], subject: object = USER): Promise<void> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  await api.ok(api.post(`${rbac}/clusterroles`, { metadata: { name }, rules }))
  await api.ok(
    api.post(`${rbac}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [subject],
    }),
  )
}
