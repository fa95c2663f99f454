// Conversion of an SVG to a PNG at twice its size.
const SCALE = 2;
const MOST = 16_000;

export async function toPng(svg: string): Promise<Blob> {
  const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    // Browsers draw nothing on a canvas over their maximum size.
    const scale = Math.min(SCALE, MOST / Math.max(image.width, image.height));
    const canvas = document.createElement("canvas");
    canvas.width = Math.ceil(image.width * scale);
    canvas.height = Math.ceil(image.height * scale);
    const context = canvas.getContext("2d");
    if (!context) throw new Error("This browser can't create images. Export the graph as SVG.");
    context.fillStyle = "#fff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done, fail) => {
      canvas.toBlob((blob) => {
        if (blob) done(blob);
        else fail(new Error("The graph is too large for a PNG. Export it as SVG."));
      }, "image/png");
    });
  } finally {
    URL.revokeObjectURL(url);
  }
}
