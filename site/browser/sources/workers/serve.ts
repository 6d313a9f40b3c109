// site/browser/sources/workers: What source pages do in worker threads. sources/ starts them; they
// never touch the document.

/** A worker's tasks by name; each may report its progress. */
export type Tasks = Readonly<
  Record<string, (input: never, report: (progress: unknown) => void) => Promise<unknown>>
>

export interface Request {
  readonly id: number
  readonly task: string
  readonly input: unknown
}

/** A worker's message about a task: its progress, its result, or its error. */
export type Reply = { readonly id: number } & (
  | { readonly progress: unknown }
  | { readonly result: unknown }
  | { readonly failure: string }
)

/** Makes this worker do tasks. */
export function serve(tasks: Tasks): void {
  const say = (reply: Reply) => postMessage(reply)
  addEventListener('message', async ({ data }: MessageEvent<Request>) => {
    const { id, task, input } = data
    try {
      const result = await tasks[task]?.(input as never, progress => say({ id, progress }))
      say({ id, result })
    } catch (error) {
      say({ id, failure: error instanceof Error ? error.message : String(error) })
    }
  })
}
