import { type Context, Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { renderDocs } from './docs/docs-page.ts'
import { describe } from './docs/openapi.ts'
import { depends } from './input/dependency.ts'
import type { Dependency, Inputs, Values } from './input/input.ts'
import { ValidationError } from './input/problem.ts'
import { resolve } from './input/resolver.ts'
import { formFieldsOf, type Operation } from './operation.ts'
import { unmatched } from './routing.ts'
import { IncomingRequest } from './wire/incoming-request.ts'
import { jsonResponse } from './wire/response.ts'
import { routedPath, type SampleEnv } from './wire/target.ts'

/** Turns resolved inputs into an answer: a Response as it is, anything else as JSON. */
export type Handler<I extends Inputs> = (values: Values<I>, context: Context<SampleEnv>) => unknown

/**
 * A Hono application whose routes declare what they ask for. Each declaration serves three purposes: it validates, it
 * types the handler, and it documents (`/openapi.json`, `/docs`).
 */
export class App {
  readonly title: string
  readonly hono = new Hono<SampleEnv>({ getPath: routedPath })
  readonly operations: Operation[] = []
  readonly #global: Inputs

  /** @param dependencies run before the own ones of every operation; not for 404, 405, 307 and the documentation */
  constructor(title: string, dependencies: readonly Dependency<unknown>[] = []) {
    this.title = title
    this.#global = Object.fromEntries(dependencies.map((one, index) => [`global ${index}`, depends(one)]))
    this.hono.notFound(unmatched(this.hono))
    this.hono.onError(answerError)
    this.hono.get('/openapi.json', context => jsonResponse(describe(this.title, this.operations, context.env?.base)))
    this.hono.get('/docs', context => renderDocs(context, describe(this.title, this.operations, context.env?.base)))
  }

  /**
   * Answers GET, and with it HEAD.
   * @param produces the media type of a good answer, for the documentation
   */
  get<I extends Inputs>(
    path: string,
    inputs: I,
    handler: Handler<I>,
    produces: Operation['produces'] = 'application/json',
  ): void {
    this.#declare('GET', path, inputs, handler, produces)
  }

  /** Answers POST. */
  post<I extends Inputs>(path: string, inputs: I, handler: Handler<I>): void {
    this.#declare('POST', path, inputs, handler, 'application/json')
  }

  /** Takes an operation over as it is, also from another application, whose global dependencies it keeps. */
  add(operation: Operation): void {
    const fields = formFieldsOf(operation.inputs)
    this.operations.push(operation)
    this.hono.on(operation.method, operation.path, async context => {
      const request = new IncomingRequest(context, fields)
      try {
        const values = await resolve(operation.inputs, request)
        const answer = await operation.run(values, context)
        return answer instanceof Response ? answer : jsonResponse(answer)
      } finally {
        await closeAfterResponse(request, context)
      }
    })
  }

  #declare<I extends Inputs>(
    method: Operation['method'],
    path: string,
    inputs: I,
    handler: Handler<I>,
    produces: Operation['produces'],
  ): void {
    this.add({
      method,
      path,
      produces,
      inputs: { ...this.#global, ...inputs },
      run: (values, context) => handler(values as Values<I>, context),
    })
  }
}

/** The one place where what was thrown becomes an answer. */
function answerError(error: Error, context: Context<SampleEnv>): Response {
  if (error instanceof ValidationError) return jsonResponse({ detail: error.problems }, 422)
  // `getResponse` would copy it into a stream of unknown length.
  if (error instanceof HTTPException) return error.res ?? error.getResponse()
  // The client went away while its body was being read: nobody hears the answer, and nothing is wrong here.
  if (error === context.env?.incoming?.errored) return new Response(null, { status: 400 })
  console.error(error)
  return new Response('Internal Server Error', {
    status: 500,
    headers: { 'Content-Type': 'text/plain; charset=utf-8' },
  })
}

/** Uploads live as long as the answer, which may be streaming one of them; at once where there is nothing to wait for. */
async function closeAfterResponse(request: IncomingRequest, context: Context<SampleEnv>): Promise<void> {
  const outgoing = context.env?.outgoing
  if (!outgoing || outgoing.closed) await request.close()
  else outgoing.once('close', () => request.close().catch(error => console.error(error)))
}
