/** Access control between fakes that note each question, in order. */
import type { IncomingHttpHeaders } from 'node:http'
import type { TLSSocket } from 'node:tls'
import type { Test } from 'tap'
import { WORKSPACES } from '../../../src/apimachinery/resources.ts'
import {
  AccessControl,
  type AccessControlDeps,
  type AccessRecorder,
} from '../../../src/apiserver/access/accessControl.ts'
import type { RawRequest } from '../../../src/apiserver/access/requestCredentials.ts'
import type { Attributes, Authentication, Credentials, UserInfo } from '../../../src/apiserver/auth/types.ts'
import { encodeObject } from '../../../src/apiserver/registry/codec.ts'
import { SpaceTree } from '../../../src/apiserver/spaces/tree.ts'
import { openMemoryStore } from '../../../src/storage/memory/openMemoryStore.ts'

export const ROOT_USER: UserInfo = { name: 'root', groups: ['system:masters', 'system:authenticated'] }
export const ANN: UserInfo = { name: 'ann', groups: ['dev', 'system:authenticated'] }

export interface FakeOptions {
  /** By token; `undefined` for none that is known. Default: `root` and `ann`. */
  authenticate?: (credentials: Credentials) => Authentication | undefined
  /** Default: everything. */
  allow?: (attributes: Attributes) => boolean
  /** Ids of spaces that may be entered. Default: all. */
  open?: readonly string[]
  more?: Partial<AccessControlDeps>
}

export type FakeAccess = Awaited<ReturnType<typeof fakeAccess>>

/** Spaces: `root:one` (id ONE), `root:one:sub` (SUB), `root:closed` (CLOSED), `root:ending` (ENDING) with `deep` (DEEP) below. */
export async function fakeAccess(t: Test, { authenticate, allow, open, more }: FakeOptions = {}) {
  const store = await openMemoryStore()
  t.teardown(() => store.close())
  const tree = new SpaceTree(store)
  const { group, resource } = WORKSPACES
  for (const [parent, name] of [
    ['root', 'one'],
    ['one', 'sub'],
    ['root', 'closed'],
    ['root', 'ending'],
    ['ending', 'deep'],
  ] as const) {
    const metadata = { name, ...(name === 'ending' && { deletionTimestamp: '2026-01-01T00:00:00Z' }) }
    const text = encodeObject({
      apiVersion: 'tenancy.kcp.io/v1alpha1',
      kind: 'Workspace',
      metadata,
      spec: { cluster: `id-${name}` },
    })
    const space = parent === 'root' ? parent : `id-${parent}`
    await store.update({ space, group, resource, namespace: '', name }, () => ({ type: 'put', text }))
  }
  /** Steps, in order. */
  const steps: string[] = []
  const asked: Attributes[] = []
  const known = ({ token }: Credentials): Authentication | undefined =>
    token === 'root' ? { user: ROOT_USER } : token === 'ann' ? { user: ANN } : undefined
  const access = new AccessControl({
    tree,
    authenticator: {
      async authenticate(credentials) {
        steps.push('authenticate')
        return (authenticate ?? known)(credentials)
      },
    },
    authorizer: {
      async authorize(attributes) {
        const { verb, space, resource: of, path } = attributes
        steps.push(`may ${verb} ${of ? of.resource : path} in ${space}`)
        asked.push(attributes)
        return allow?.(attributes) === false
          ? { allowed: false, reason: 'no rule' }
          : { allowed: true, reason: 'a rule' }
      },
      async mayAccessSpace(_user, space) {
        steps.push(`may enter ${space}`)
        return open?.includes(space) ?? true
      },
    },
    spaces: true,
    isServerWide: path => path === '/metrics' || path === '/statusz',
    anonymousAuth: true,
    draining: new AbortController().signal,
    ...more,
  })
  const recorder: AccessRecorder = {
    parsed: ({ path }) => void steps.push(`parsed ${path}`),
    identified: ({ name }) => void steps.push(`identified ${name}`),
    located: space => void steps.push(`located ${space}`),
    impersonated: ({ name }) => void steps.push(`impersonated ${name}`),
    decided: ({ allowed, reason }) => void steps.push(`decided ${allowed} ${reason}`.trim()),
  }
  return {
    access,
    steps,
    asked,
    /** `GET /path` by whom the token names. */
    authorize: async (request: string, token = '', headers: IncomingHttpHeaders = {}, socket: object = {}) =>
      access.authorize(rawRequest(request, token, headers, socket), recorder),
  }
}

export function rawRequest(
  request: string,
  token = '',
  headers: IncomingHttpHeaders = {},
  socket: object = {},
): RawRequest {
  const [method = '', url = ''] = request.split(' ')
  return {
    method,
    url,
    headers: { ...(token && { authorization: `Bearer ${token}` }), ...headers },
    headersDistinct: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value ?? []].flat()])),
    socket: socket as TLSSocket,
  }
}
