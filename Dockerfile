# LossPrism for visitors who do not know each other; docs/hosting.md says how it is run.
FROM python:3.11-slim

# Without CUDA. With it: --build-arg TORCH_FROM=https://pypi.org/simple
ARG TORCH_FROM=https://download.pytorch.org/whl/cpu

RUN useradd --uid 10001 --home-dir /data --no-create-home --shell /usr/sbin/nologin lossprism \
    && install --directory --owner lossprism --group lossprism --mode 0700 /data

WORKDIR /app
# nginx, which visitors reach, and the fonts of figures as PNG, Chinese among them. A Space installs
# the same file.
COPY packages.txt .
RUN apt-get update \
    && xargs --arg-file packages.txt apt-get install -y --no-install-recommends nginx-light \
    && rm -rf /var/lib/apt/lists/* && ln -s /dev/stderr /var/log/nginx/lossprism.log
COPY docs/nginx.conf /etc/nginx/conf.d/lossprism.conf
COPY nginx-container.conf .
COPY requirements.txt .
RUN pip install --no-cache-dir "$(grep ^torch== requirements.txt)" --index-url "$TORCH_FROM" \
    && pip install --no-cache-dir -r requirements.txt
COPY app.py .
COPY lossprism lossprism
COPY losses losses
COPY explorer explorer
RUN python -m compileall -q app.py lossprism losses explorer

# All that is written is below /data: the rest of the file system may be read-only.
ENV HOME=/data PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
VOLUME /data
USER 10001
EXPOSE 7860
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:7860/healthz', timeout=8)"]
ENTRYPOINT ["sh", "-c", "nginx -e stderr -c /app/nginx-container.conf && exec \"$@\"", "sh", "python", "app.py", "--hosted", "--no-browser", "--host", "127.0.0.1", "--port", "7861", "--data", "/data"]
