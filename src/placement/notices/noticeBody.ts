/**
 * A notice in the two forms that receivers take: a CloudEvent in structured mode, and the message of an incoming webhook of Slack. Pure.
 * @see https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md#32-structured-content-mode
 * @see https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
 */
import { num, str } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { shortened } from '../../apimachinery/shortened.ts'

export interface Notice {
  /** The same in each attempt to deliver it. */
  readonly id: string
  /** The path of the space. */
  readonly space: string
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
  /** RFC 3339; empty: unknown. */
  readonly time: string
  readonly count: number
  readonly object: {
    readonly apiVersion: string
    readonly kind: string
    readonly namespace: string
    readonly name: string
    readonly uid: string
  }
}

/** The maker of Events keeps to less; users may write longer ones. */
const MAX_NAME = 253
const MAX_MESSAGE = 1024
const TYPE_PREFIX = 'io.kubestellar.edge.'

export function noticeOf(space: string, event: KubeObject): Notice {
  const { uid = '', resourceVersion = '' } = event.metadata
  const about = (field: string): string => shortened(str(event, 'involvedObject', field), MAX_NAME)
  return {
    id: `${uid}.${resourceVersion}`,
    space,
    type: str(event, 'type') === 'Normal' ? 'Normal' : 'Warning',
    reason: shortened(str(event, 'reason'), MAX_NAME),
    message: shortened(str(event, 'message'), MAX_MESSAGE),
    time: timeOf(str(event, 'lastTimestamp')),
    count: num(event, 'count'),
    object: {
      apiVersion: about('apiVersion'),
      kind: about('kind'),
      namespace: about('namespace'),
      name: about('name'),
      uid: about('uid'),
    },
  }
}

interface NoticeBody {
  readonly contentType: string
  readonly text: string
}

export function noticeBody(form: 'CloudEvents' | 'Slack', notice: Notice): NoticeBody {
  if (form === 'Slack') return { contentType: 'application/json', text: JSON.stringify({ text: slackText(notice) }) }
  const { id, space, type, reason, message, time, count, object } = notice
  const { namespace, ...rest } = object
  const event = {
    specversion: '1.0',
    id,
    source: `/clusters/${encodeURI(space)}`,
    type: `${TYPE_PREFIX}${reason}`,
    subject: `${object.kind}/${namespace === '' ? '' : `${namespace}/`}${object.name}`,
    ...(time !== '' && { time }),
    datacontenttype: 'application/json',
    data: { space, type, reason, message, count, object: { ...rest, ...(namespace !== '' && { namespace }) } },
  }
  return { contentType: 'application/cloudevents+json; charset=utf-8', text: JSON.stringify(event) }
}

function slackText({ space, type, reason, message, object: { kind, namespace, name } }: Notice): string {
  const mark = type === 'Warning' ? ':warning: ' : ''
  const about = `${kind} ${namespace === '' ? '' : `${namespace}/`}${name} in ${space}`
  return escaped(`${mark}*${reason}* ${about}\n${message}`)
}

/** Slack reads links and mentions, such as of a whole channel, between angle brackets. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function timeOf(text: string): string {
  return text.length <= 40 && !Number.isNaN(Date.parse(text)) ? text : ''
}
