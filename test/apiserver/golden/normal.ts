/** Answers and audit events without what differs from run to run. */
import { gunzipSync } from 'node:zlib'
import type { AuditEvent } from '../../../src/apiserver/audit/auditEvent.ts'
import type { Answer } from './wire.ts'

/** All that is replaced, in texts. */
const SUBSTITUTIONS: readonly (readonly [pattern: RegExp, by: string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>'],
  [/(resourceVersion\\*"?: ?\\*")\d+/g, '$1<revision>'],
  [/(current: |resourceVersion: |"revision":|in record \()\d+/g, '$1<revision>'],
  [/("continue": ?")[^"]+/g, '$1<continue>'],
  [/^( +continue: ).+/gm, '$1<continue>'],
  [/("(?:token|continue)": ?")[\w.-]{20,}/g, '$1<token>'],
  [/"((\d+[smhd]){1,2}|<invalid>)"/g, '"<age>"'],
  [/- ((\d+[smhd]){1,2}|<invalid>)$/gm, '- <age>'],
  [/127\.0\.0\.1:\d+/g, '<address>'],
  [/("port":)\d{4,5}/g, '$1<port>'],
  [/("(?:goVersion|platform|gitVersion)": ?")[^"]+/g, '$1<build>'],
  [/X509SHA256=[0-9a-f]{64}/g, 'X509SHA256=<hash>'],
  [/("cluster": ?")[a-z0-9]{16}(?=")/g, '$1<space>'],
  [/(.)\1{199,}/g, '$1 and so on'],
]

/** In protobuf with its bytes shown, of the same length: uids, the seconds of a time, and revisions. */
const IN_PROTOBUF: readonly (readonly [pattern: RegExp, by: string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>'],
  [/<08>.{5,20}?(?=<10><00>)/g, '<08><seconds>'],
  [/2<03>\d{3}(?=8)/g, '2<03><revision>'],
  [/<12><03>\d{3}(?=<1a>)/g, '<12><03><revision>'],
]

const HEADERS: readonly (readonly [pattern: RegExp, by: string])[] = [
  [/^(date|audit-id|etag|sec-websocket-accept): .*/i, '$1: <$1>'],
]

/** Head, an empty line, and the body. */
export function linesOf({ head, body }: Answer, isDocument = false): readonly string[] {
  const type = head.find(line => /^content-type:/i.test(line)) ?? ''
  const lines = head.map(line => {
    if (line.toLowerCase() === `content-length: ${body.length}`) return `${line.slice(0, 14)}: <of the body>`
    return HEADERS.reduce((text, [pattern, by]) => text.replace(pattern, by), plain(line))
  })
  if (body.length === 0) return lines
  if (isDocument) return [...lines, '', '<a document>']
  const isZipped = head.some(line => /^content-encoding: gzip$/i.test(line))
  const whole = isZipped ? gunzipSync(body) : body
  const text = /protobuf/.test(type) || whole.includes('k8s\0') ? inProtobuf(whole) : plain(whole.toString())
  return [...lines, isZipped ? '<in gzip>' : '', ...text.split('\n')]
}

export function plain(text: string): string {
  return SUBSTITUTIONS.reduce((all, [pattern, by]) => all.replace(pattern, by), text)
}

function inProtobuf(body: Buffer): string {
  const shown = body.toString('latin1').replace(/[^ -~]/g, byte => `<${Buffer.from(byte, 'latin1').toString('hex')}>`)
  return IN_PROTOBUF.reduce((all, [pattern, by]) => all.replace(pattern, by), shown)
}

/** One line. Bodies that went over the wire are named, others shown. */
export function auditLine(event: AuditEvent, sent: string, answered: readonly string[]): string {
  const { stage, verb, requestURI, user, impersonatedUser, userAgent, objectRef, responseStatus, annotations } = event
  const bodies = {
    ...(event.requestObject !== undefined && { requestObject: said(event.requestObject, [sent], 'as sent') }),
    ...(event.responseObject !== undefined && { responseObject: said(event.responseObject, answered, 'as answered') }),
  }
  const { 'kcp.io/cluster': space, ...rest } = annotations ?? {}
  const shown = {
    ...(impersonatedUser && { impersonatedUser }),
    ...(userAgent && { userAgent }),
    ...(objectRef && { objectRef }),
    ...(responseStatus && { responseStatus }),
    ...bodies,
    ...rest,
  }
  const where = space === undefined ? '' : ` in ${space}`
  return plain(`${stage} ${verb} ${requestURI} by ${user.username ?? 'nobody'}${where} ${JSON.stringify(shown)}`)
}

function said(value: unknown, texts: readonly string[], name: string): unknown {
  return texts.some(text => isSame(value, text)) ? name : value
}

function isSame(value: unknown, text: string): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(value)
  } catch {
    return false
  }
}
