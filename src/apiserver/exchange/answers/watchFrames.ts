/** Frames of a watch in the requested form: events, bookmarks, the failure that ends it. */
import type { StatusError } from '../../../apimachinery/errors.ts'
import { apiVersionOf, type KubeObject } from '../../../apimachinery/object.ts'
import type { Stored } from '../../../storage/store.ts'
import { isPartial } from '../../http/negotiate.ts'
import { viewBytes } from '../../registry/views.ts'
import { partialMetadata } from '../../tables/table.ts'
import type { Exchange, Services } from '../exchange.ts'
import { bookmarkObject, type FrameType, jsonEvent, jsonFrame } from './frames.ts'
import { protobufForm, shownKind } from './protobufForms.ts'
import { tableOf } from './respond.ts'

export interface WatchFrames {
  render(type: FrameType, stored: Stored): Buffer
  bookmark(revision: number, initialEventsEnd: boolean): Buffer
  failure(error: StatusError): Buffer
}

type Shown = Pick<Exchange, 'form' | 'type' | 'info' | 'space'>

export function watchFrames(services: Services, exchange: Shown): WatchFrames {
  const { form, type } = exchange
  const { protobuf } = services
  const shown = shownKind(type, form)
  const bookmarkOf = (revision: number, initialEventsEnd: boolean) =>
    bookmarkObject({ ...shown, revision, initialEventsEnd })
  if (form.format === 'protobuf') {
    return {
      render: protobufForm(services, type, form).frame,
      bookmark: (...position) => protobuf.encodeWatchFrame('BOOKMARK', bookmarkOf(...position)),
      failure: error => protobuf.encodeWatchFrame('ERROR', { ...error.toStatus() }),
    }
  }
  return {
    render: jsonRenderer(services, exchange),
    bookmark: (...position) => jsonEvent('BOOKMARK', bookmarkOf(...position)),
    failure: error => jsonEvent('ERROR', error.toStatus()),
  }
}

/** Plain frames and those of metadata are shared among all watchers. */
function jsonRenderer(services: Services, exchange: Shown): WatchFrames['render'] {
  const { frames } = services
  const { form, type: kind } = exchange
  if (form.as === undefined) {
    const version = `${apiVersionOf(kind)} ${kind.custom?.generation ?? ''}`
    const make = (type: FrameType, stored: Stored): Buffer => jsonFrame(type, viewBytes(stored, kind))
    return (type, stored) => frames.frame(type, stored, version, make)
  }
  const parse = (stored: Stored): KubeObject => JSON.parse(viewBytes(stored, kind).toString()) as KubeObject
  if (isPartial(form)) {
    const make = (type: FrameType, stored: Stored): Buffer =>
      jsonFrame(type, Buffer.from(JSON.stringify(partialMetadata(parse(stored), form.version))))
    const name = `partial ${form.version} ${apiVersionOf(kind)}`
    return (type, stored) => frames.frame(type, stored, name, make)
  }
  let headersSent = false
  return (type, stored) => {
    const object = parse(stored)
    const { resourceVersion } = object.metadata
    const table = tableOf(services, exchange, form, [object], { resourceVersion }, !headersSent)
    headersSent = true
    return jsonFrame(type, Buffer.from(JSON.stringify(table)))
  }
}
