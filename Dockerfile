# The app on one port: docker build -t priori . && docker run --rm -p 127.0.0.1:8000:8000 priori
FROM python:3.13-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN python -m venv /opt/priori && /opt/priori/bin/pip install --no-cache-dir '.[all]'

FROM python:3.13-slim
COPY --from=build /opt/priori /opt/priori
RUN useradd --create-home --uid 10001 priori
USER 10001
WORKDIR /home/priori
ENV PATH=/opt/priori/bin:$PATH NUMBA_CACHE_DIR=/home/priori/.cache
EXPOSE 8000
HEALTHCHECK --start-period=20s --timeout=5s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/', timeout=4)"]
ENTRYPOINT ["priori"]
CMD ["app", "--host", "0.0.0.0", "--port", "8000"]
