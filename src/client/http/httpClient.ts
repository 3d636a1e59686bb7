/** The client contract over HTTPS: an Orrery server with its spaces, or any plain Kubernetes cluster. */
import { StatusError } from '../../apimachinery/errors.ts'
import { str } from '../../apimachinery/fields.ts'
import { groupResourceName } from '../../apimachinery/object.ts'
import { protocolText, requireSpoken } from '../../placement/desks/syncProtocol.ts'
import type { Client, SpaceClient, StreamBatch, StreamOptions } from '../client.ts'
import type { HttpClientOptions } from './options.ts'
import { leadsThroughHost, queryOf, spacePath } from './paths.ts'
import { HttpSpaceClient, type WatchingTransport } from './spaceClient.ts'
import { streamBatches } from './streamLines.ts'
import { HttpTransport } from './transport.ts'

export type { HttpClientOptions } from './options.ts'

/** `close` ends open requests, watches and connections. */
export interface ClosableClient extends Client {
  close(): void
}
export interface ClosableSpaceClient extends SpaceClient {
  /** The same connections, and each request in the name of a user: who the client is needs the right to impersonate. */
  as(user: string): SpaceClient
  /** `gitVersion` of the server; `''` when it says none. */
  version(): Promise<string>
  close(): void
}

/** A client for all spaces of an Orrery server: requests go to `<server>/clusters/<space>/…`, or through a host cluster as `spacePath` says. */
export function httpClient(options: HttpClientOptions): ClosableClient {
  const transport = new HttpTransport(options)
  return {
    in: space => new HttpSpaceClient(transport, spacePath(options.server, space)),
    stream: streamOptions => stream(transport, options.server, streamOptions),
    close: () => transport.close(),
  }
}

/** A client for one cluster at `server` as it is: a plain Kubernetes cluster, or `https://…/clusters/<space>`. */
export function httpSpaceClient(options: HttpClientOptions): ClosableSpaceClient {
  const transport = new HttpTransport(options)
  return Object.assign(new HttpSpaceClient(transport, ''), {
    as: (user: string) => {
      const headers = { 'impersonate-user': user }
      const inTheirName: WatchingTransport = {
        get noticesDeath() {
          return transport.noticesDeath
        },
        json: request => transport.json({ ...request, headers }),
        lines: request => transport.lines({ ...request, headers }),
      }
      return new HttpSpaceClient(inTheirName, '')
    },
    version: async () => str(await transport.json({ method: 'GET', path: '/version' }), 'gitVersion'),
    close: () => transport.close(),
  })
}

/** Requests about an Orrery server as a whole, which are of no space. */
export function httpServer(options: HttpClientOptions): Pick<HttpTransport, 'bytes' | 'json' | 'close'> {
  return new HttpTransport(options)
}

/** @throws StatusError MethodNotAllowed through a host cluster */
async function* stream(
  transport: HttpTransport,
  server: string,
  options: StreamOptions,
): AsyncGenerator<StreamBatch, void, void> {
  if (leadsThroughHost(server))
    throw new StatusError(
      'MethodNotAllowed',
      `${server} leads through a host cluster, which carries no space streams: use the ordinary address of the server`,
    )
  const { space, resources, brief, after, known, epoch, protocols, session, signal } = options
  const query = queryOf({
    resourceVersion: after,
    known: after === undefined ? known : undefined,
    epoch,
    resources: resources?.map(groupResourceName).join(','),
    brief,
    protocol: protocols && protocolText(protocols),
    session,
  })
  const path = `/services/stream${spacePath(server, space)}${query}`
  let cursor = after ?? 0
  let isAgreed = protocols === undefined
  for await (const lines of transport.lines({ method: 'GET', path, signal })) {
    for (const batch of streamBatches(lines, cursor)) {
      if (batch instanceof StatusError) throw batch
      // the first line names the protocol, so that nothing is taken of a center that speaks another one
      if (!isAgreed) requireSpoken(protocols!, batch.protocol)
      isAgreed = true
      cursor = batch.revision
      yield batch
    }
  }
}
